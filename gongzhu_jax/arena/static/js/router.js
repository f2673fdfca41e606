// Which page is shown: the part of the address after "#", so that every page has an address that
// works wherever the arena lies.

const PAGES = new Set(["", "play", "join", "watch", "game", "daily", "standings", "rules"]);

/** "#game=17/2" is { page: "game", value: "17/2" }. */
export function place() {
  const [page, value = ""] = location.hash.slice(1).split("=", 2);
  return PAGES.has(page) ? { page, value } : { page: "", value: "" };
}

export const isAt = (page) => place().page === page;

export function go(hash) {
  if (location.hash === hash || (hash === "#" && location.hash === "")) {
    dispatchEvent(new HashChangeEvent("hashchange"));
  } else {
    location.hash = hash;
  }
}

/** The table and the invitation of a link to join or watch. */
export function tableOf(value) {
  const [table, invitation = null] = value.split(".", 2);
  return { table, invitation };
}
