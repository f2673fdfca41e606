// The rules with a worked score, over any page.

import { $, chip, make, replace, signed, tableOf } from "./dom.js";
import { isAt } from "./router.js";
import { seatName, t } from "./i18n.js";

let examples = null;

export async function openRules() {
  examples ??= await (await fetch(new URL("../rules.json", import.meta.url))).json();
  drawRules();
  if (!$("rules").open) $("rules").showModal();
}

const chips = (cards) => make("span", { className: "chips" }, ...cards.map(chip));
const section = (title, ...parts) => [make("h3", { textContent: t(title) }), ...parts];
const text = (key) => make("p", { textContent: t(key) });

export function drawRules() {
  if (!examples) return;
  const { values, game, hands } = examples;
  replace($("rules-body"), make("h2", { id: "rules-title", textContent: t("rulesTitle") }),
    ...section("rulesAim", text("rulesAimText")),
    ...section("rulesPlay", text("rulesPlayText")),
    ...section("rulesPoints", text("rulesPointsText"), pointsTable(values)),
    ...section("rulesWorked", text("rulesWorkedText"), gameTable(game)),
    ...section("rulesOther", tableOf(["rulesCards", "rulesSum"].map((key) => t(key)),
      hands.map((hand) => [chips(hand.cards), sum(hand)]))),
    ...section("rulesExposing", text("rulesExposingText")));
}

function pointsTable(values) {
  const rows = values.map(({ cards, points, name }) =>
    [make("span", {}, chips(cards), name ? ` ${t(name)}` : ""), points.map(signed).join(", ")]);
  rows.push([make("span", {}, chips(["C10"]), ` ${t("rulesTransformer")}`), t("rulesTransformerText")],
    [t("rulesAllHearts"), t("rulesAllHeartsText")]);
  return tableOf(["", t("rulesSum")], rows);
}

const sum = ({ sum: how, points }) => (how ? `${how} = ${signed(points)}` : signed(points));

function gameTable({ seats }) {
  const points = seats.map((seat) => seat.points);
  const teams = [points[0] + points[2], points[1] + points[3]];
  const best = teams[0] >= teams[1] ? 0 : 1;
  return make("div", {}, tableOf(["player", "rulesCards", "rulesSum"].map((key) => t(key)),
    seats.map((seat, i) => [seatName(i), chips(seat.cards), sum(seat)])),
  make("p", { textContent: t("rulesMargin", { winners: t(`teamNames${best}`),
    losers: t(`teamNames${1 - best}`), more: signed(teams[best]), fewer: signed(teams[1 - best]),
    margin: Math.abs(teams[0] - teams[1]) }) }));
}

/** Once, when the page is loaded. */
export function startRules() {
  $("rules-button").addEventListener("click", openRules);
  $("rules").addEventListener("close", () => { if (isAt("rules")) history.back(); });
}
