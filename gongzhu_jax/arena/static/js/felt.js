// A table as it is seen from one seat: who sits where, what they have taken, the trick.

import { $, chip, make, picture, replace, signed } from "./dom.js";
import { sortHand } from "./cards.js";
import { playerName, seatName, spokenCard, t } from "./i18n.js";
import { isMyTeam, placeOf } from "./model.js";

/** `seats` have name, kind and connected; `mine` is the seat at the bottom, which is `me` or not;
 * `points` and `taken` are by seat; `toMove` is a seat or null, `trick` may have a winner. */
export function drawPlaces(places, { seats, mine, me, points, taken, toMove }) {
  for (const element of places) {
    const seat = (mine + Number(element.dataset.place)) % 4;
    const { name, kind, connected } = seats[seat];
    const away = kind === "client" && connected === false ? ` (${t("away")})` : "";
    const role = me ? roleOf(seat, mine) : null;
    element.className = "place";
    element.classList.toggle("to-move", toMove === seat);
    element.classList.toggle("ours", isMyTeam(seat, mine));
    const cards = make("div", { className: "taken" }, ...sortHand(taken[seat]).map(chip));
    cards.setAttribute("role", "img");
    cards.setAttribute("aria-label",
      t("taken", { cards: taken[seat].map(spokenCard).join(", ") || t("none") }));
    const where = make("span", { className: "seat-name", textContent: seatName(seat) });
    replace(element,
      make("div", { className: "where" }, where,
        role && make("span", { className: `role ${role}`, textContent: t(role) })),
      make("div", { className: "who", textContent: (name === null ? "" : playerName(name)) + away }),
      make("div", { className: "points", textContent: points ? signed(points[seat]) : "" }), cards);
  }
}

function roleOf(seat, mine) {
  if (seat === mine) return "you";
  return isMyTeam(seat, mine) ? "partner" : "opponent";
}

/** The cards of a trick where their players sit. */
export function drawTrick(element, trick, mine) {
  const cards = trick?.cards ?? [];
  const newest = cards.length ? `${cards.length}${cards.at(-1)}` : "";
  const isNew = element.dataset.newest !== newest;
  element.dataset.newest = newest;
  replace(element, ...cards.map((card, i) => {
    const seat = (trick.leader + i) % 4;
    const spot = picture(card, t("seatPlays", { seat: seatName(seat), card: spokenCard(card) }));
    const item = make("div", { className: "spot" }, spot);
    item.setAttribute("role", "listitem");
    item.classList.toggle("won", trick.winner === seat);
    item.classList.toggle("new", isNew && i === cards.length - 1);
    item.dataset.place = placeOf(seat, mine);
    item.dataset.card = card;
    return item;
  }));
}

/** A whole felt inside an element, for tables where nobody plays. */
export function drawFelt(element, state) {
  if (!element.querySelector(".felt")) {
    const places = [2, 1, 3, 0].map((place) => {
      const made = make("div");
      made.dataset.place = place;
      return made;
    });
    const trick = make("div", { className: "trick" });
    trick.setAttribute("role", "list");
    replace(element, make("div", { className: "felt" }, ...places, trick));
  }
  element.querySelector(".trick").setAttribute("aria-label", t("trick"));
  drawPlaces(element.querySelectorAll(".felt > [data-place]"), state);
  drawTrick(element.querySelector(".trick"), state.trick, state.mine);
}

export const gamePlaces = () => $("felt").querySelectorAll(".place");
