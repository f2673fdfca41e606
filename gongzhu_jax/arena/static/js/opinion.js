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
  // The one who thinks holds none of them.
  const others = [0, 1, 2, 3].filter((seat) => Object.values(believed).some((s) => s[seat] > 0));
  const head = make("tr", {}, make("th", {}), ...others.map((seat) => make("th",
    { scope: "col", textContent: t("seat", { seat: seat + 1 }), title: playerName(names[seat]) })));
  const rows = Object.entries(believed).map(([card, shares]) =>
    make("tr", {}, make("td", {}, chip(card)), ...others.map((seat) =>
      make("td", { textContent: shares[seat] > 0 ? `${Math.round(100 * shares[seat])} %` : "" }))));
  const table = make("table", { className: "owners" }, make("thead", {}, head), make("tbody", {}, ...rows));
  return make("div", { className: "scroll" }, table);
}

