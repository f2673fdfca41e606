// What ScrofaZero thinks of a position.

import { make, chip, replace, signed } from "./dom.js";
import { shortName } from "./cards.js";
import { playerName, t } from "./i18n.js";

const round = (value) => signed(Math.round(value));

/** Fills a panel; `names` are of the four seats. */
export function showOpinion(panel, opinion, names) {
  const cards = Object.entries(opinion.q).sort((a, b) => b[1].mean - a[1].mean);
  const parts = [make("p", { textContent: t("wouldPlay", { card: shortName(opinion.card) }) })];
  if (cards.length) {
    parts.push(make("h3", { textContent: t("qTitle") }), ...bars(cards, opinion.card));
  } else {
    parts.push(make("p", { textContent: t("forced") }));
  }
  if (Object.keys(opinion.owners).length) {
    parts.push(make("h3", { textContent: t("ownersTitle") }), owners(opinion.owners, names));
  }
  replace(panel, ...parts);
}

function bars(cards, best) {
  const values = cards.map(([, q]) => q.mean);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return cards.map(([card, q]) => {
    const meter = make("meter", { min: 0, max: 1, value: (q.mean - low + 4) / (high - low + 4) });
    meter.setAttribute("aria-hidden", "true");
    return make("div", { className: card === best ? "bar best" : "bar" }, chip(card), meter,
      make("output", { textContent: `${round(q.mean)} ± ${Math.round(q.error)}` }));
  });
}

function owners(believed, names) {
  const head = make("tr", {}, make("th", {}), ...names.map((name) =>
    make("th", { scope: "col", textContent: playerName(name) })));
  const rows = Object.entries(believed).map(([card, shares]) =>
    make("tr", {}, make("td", {}, chip(card)), ...shares.map((share) =>
      make("td", { textContent: share > 0 ? `${Math.round(100 * share)} %` : "" }))));
  const table = make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows));
  return make("div", { className: "scroll" }, table);
}

