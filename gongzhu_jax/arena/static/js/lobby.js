// Where a game is arranged.

import { $, make, replace } from "./dom.js";
import { playerName, t } from "./i18n.js";

const TIMES = [15, 30, 60, 120, 300, 600];
const PLACES = ["left", "partner", "right"];
const FREE = "";

export function drawLobby(welcome, kept) {
  const [seat, seconds] = [$("seat").value || kept.seat || "0", $("seconds").value || kept.seconds];
  replace($("seat"), ...[0, 1, 2, 3].map((number) =>
    make("option", { value: number, textContent: t("seat", { seat: number + 1 }) })));
  $("seat").value = seat;
  const chosen = PLACES.map((place, i) => $(`other-${place}`)?.value ?? kept.others?.[i]);
  replace($("others"), ...PLACES.map((place, i) => opponent(welcome.players, place, chosen[i])));
  replace($("seconds"), ...TIMES.map((n) => make("option", { value: n,
    textContent: n < 120 ? t("seconds", { n }) : t("minutes", { n: n / 60 }) })));
  $("seconds").value = seconds || String(welcome.seconds);
  const analyst = welcome.analyst !== null;
  $("with-analysis").closest("label").hidden = !analyst;
  if (!analyst) $("with-analysis").checked = false;
}

function opponent(players, place, chosen) {
  const options = [...players.map((name) => make("option",
    { value: name, textContent: playerName(name) })),
    make("option", { value: FREE, textContent: t("openSeat") })];
  const select = make("select", { id: `other-${place}` }, ...options);
  const usual = ["scrofa-strong", "scrofa", "greed"].find((name) => players.includes(name));
  select.value = chosen ?? usual ?? players[0] ?? FREE;
  return make("label", {}, make("span", { textContent: t(place) }), select);
}

/** The fields of the "create" message, and what to remember for next time. */
export function readForm() {
  const seat = Number($("seat").value);
  const seats = [null, null, null, null];
  const others = PLACES.map((place) => $(`other-${place}`).value);
  others.forEach((name, i) => { seats[(seat + i + 1) % 4] = name === FREE ? null : name; });
  const seconds = Number($("seconds").value);
  return { seats, seat, seconds, analysis: $("with-analysis").checked, others };
}

export async function drawTables(onSit) {
  const answer = await fetch("/api/tables");
  const tables = answer.ok ? await answer.json() : [];
  const free = tables.filter((table) => table.phase === "waiting" && table.match === null &&
    table.seats.some((seat) => seat.kind === "free"));
  const rows = free.slice(0, 20).map((table) => tableRow(table, onSit));
  replace($("tables"), ...(rows.length ? rows : [make("li", { textContent: t("noTables") })]));
}

function tableRow(table, onSit) {
  const names = table.seats.map((seat) => (seat.name === null ? "–" : playerName(seat.name)));
  const buttons = table.seats.flatMap((seat, i) => {
    if (seat.kind !== "free") return [];
    const button = make("button", { type: "button", textContent: t("sit", { seat: i + 1 }) });
    button.addEventListener("click", () => onSit(table.table, i));
    return [button];
  });
  return make("li", {}, make("span", { textContent: names.join(" · ") }),
    make("span", { className: "buttons" }, ...buttons));
}
