// The way to the server: HTTP, and one connection that everything on the page shares. Addresses are
// relative to the page, which may lie below the root of its host.

import { Connection } from "./connection.js";

const shared = { connection: null, welcome: null };

/** The body of an answer, or an Error with the server's `code`. */
export async function getJson(path, values = {}) {
  const given = Object.entries(values).filter(([, value]) => value !== null && value !== undefined);
  const query = given.length ? `?${new URLSearchParams(given)}` : "";
  let answer;
  try {
    answer = await fetch(new URL(path + query, document.baseURI));
  } catch {
    throw Object.assign(new Error("no connection"), { code: "gone" });
  }
  const body = await answer.json();
  if (!answer.ok) {
    throw Object.assign(new Error(body.message ?? answer.statusText), { code: body.code });
  }
  return body;
}

const BUSY_WAIT = 500; // ms

/** Asks again while the server is busy with what was asked before, and the answer is `wanted`. */
export async function patiently(request, wanted) {
  for (;;) {
    try {
      return await request();
    } catch (error) {
      if (error.code !== "busy" || !wanted()) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, BUSY_WAIT));
  }
}

export const welcome = () => shared.welcome;
export const ask = (type, fields) => shared.connection.ask(type, fields);
export const tell = (type, fields) => shared.connection.tell(type, fields);

/** Says hello under a name, and again whenever the connection was lost. */
export function connect(name, handlers) {
  shared.connection = new Connection(name, {
    ...handlers,
    onWelcome: (welcomed) => {
      shared.welcome = welcomed;
      return handlers.onWelcome(welcomed);
    },
  });
}

/** Becomes somebody else; the server knows a connection by one name, so this needs a new one. */
export const rename = (name) => shared.connection.rename(name);
