// A table seen by somebody who does not sit there: late, without hands.

import { $, complain, replace } from "./dom.js";
import { drawFelt } from "./felt.js";
import { t } from "./i18n.js";
import { tableOf } from "./router.js";
import { ask, tell } from "./server.js";

const NOTHING = [[], [], [], []];
let wanted = null; // what the address says
let watched = null; // the last message about it
let closed = false;

export async function openWatch(value) {
  wanted = value;
  watched = null;
  closed = false;
  drawWatch();
  const { table, invitation } = tableOf(value);
  try {
    await ask("watch", { table, ...(invitation === null ? {} : { invitation }) });
  } catch (error) {
    if (wanted === value) complain(error);
  }
}

export function closeWatch() {
  if (wanted !== null && !closed) tell("unwatch");
  wanted = null;
}

/** A message "watched" or "unwatched". */
export function receiveWatched(message) {
  if (wanted === null || message.table !== tableOf(wanted).table) return;
  if (message.type === "unwatched") closed = true;
  else watched = message;
  drawWatch();
}

export function drawWatch() {
  if (wanted === null) return;
  const view = watched?.view ?? null;
  $("watch-text").textContent = text(view);
  $("watch-replay").hidden = !watched || watched.game === null;
  if (watched?.game) $("watch-replay").href = `#game=${watched.game}`;
  if (!watched) {
    replace($("watch-felt"));
    return;
  }
  drawFelt($("watch-felt"), { seats: watched.seats, mine: 0, me: false, points: view?.scores ?? null,
    taken: view?.taken ?? NOTHING, toMove: view?.to_move ?? null, trick: trickOf(view) });
}

/** Between two tricks the last one stays on the table. */
const trickOf = (view) => (view && !view.trick.cards.length && view.last_trick) || view?.trick;

function text(view) {
  if (closed) return t("watchClosed");
  if (!watched) return "";
  if (watched.game !== null) return t("watchOver");
  return t(view ? "watching" : "watchNothing", { n: Math.round(watched.delay) });
}
