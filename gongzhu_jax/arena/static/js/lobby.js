// Where a game is arranged.

import { $, button, link, make, replace } from "./dom.js";
import { playerName, seatName, t } from "./i18n.js";

const TIMES = [15, 30, 60, 120, 300, 600];
const PLACES = [["left", "formLeft"], ["partner", "formPartner"], ["right", "formRight"]];
const FREE = "";

export function drawForm(welcome, kept) {
  const [seat, seconds] = [$("seat").value || kept.seat || "0", $("seconds").value || kept.seconds];
  replace($("seat"), ...[0, 1, 2, 3].map((number) =>
    make("option", { value: number, textContent: seatName(number) })));
  $("seat").value = seat;
  const chosen = PLACES.map(([place], i) => $(`other-${place}`)?.value ?? kept.others?.[i]);
  replace($("others"), ...PLACES.map((place, i) => opponent(welcome.players, place, chosen[i])));
  replace($("seconds"), ...TIMES.map((n) => make("option", { value: n,
    textContent: n < 120 ? t("seconds", { n }) : t("minutes", { n: n / 60 }) })));
  $("seconds").value = seconds || String(welcome.seconds);
  const analyst = welcome.analyst !== null;
  $("with-analysis").closest("label").hidden = !analyst;
  if (!analyst) $("with-analysis").checked = false;
}

function opponent(players, [place, label], chosen) {
  const options = [...players.map((name) => make("option",
    { value: name, textContent: playerName(name) })),
    make("option", { value: FREE, textContent: t("openSeat") })];
  const select = make("select", { id: `other-${place}` }, ...options);
  const usual = ["scrofa-strong", "scrofa", "greed"].find((name) => players.includes(name));
  const known = chosen === FREE || players.includes(chosen);
  select.value = (known ? chosen : usual) ?? players[0] ?? FREE;
  return make("label", {}, make("span", { textContent: t(label) }), select);
}

/** The fields of the "create" message, and what to remember for next time. */
export function readForm() {
  const seat = Number($("seat").value);
  const seats = [null, null, null, null];
  const others = PLACES.map(([place]) => $(`other-${place}`).value);
  others.forEach((name, i) => { seats[(seat + i + 1) % 4] = name === FREE ? null : name; });
  return { seats, seat, seconds: Number($("seconds").value),
    analysis: $("with-analysis").checked, private: $("private").checked, others };
}

/** `list` is the last "tables" message. */
export function drawTables(list, onSit) {
  const rows = (list?.tables ?? []).map((table) => tableRow(table, onSit));
  replace($("tables"), ...(rows.length ? rows : [make("li", { textContent: t("noTables") })]));
}

function tableRow(table, onSit) {
  const waiting = table.phase === "waiting" || table.phase === "preparing";
  const names = make("span", { className: "seated" }, ...table.seats.map((seat, i) =>
    make("span", { textContent: `${seatName(i)}: ${seat.name === null ? "–" : playerName(seat.name)}` })));
  const sits = table.seats.flatMap((seat, i) => (waiting && seat.kind === "free"
    ? [button(t("sit", { seat: seatName(i) }), () => onSit(table.table, i))] : []));
  const watch = table.phase === "playing" ? [link(t("watch"), `#watch=${table.table}`)] : [];
  return make("li", {}, names, make("span", { className: "buttons" }, ...sits, ...watch));
}
