// What ScrofaZero thinks of a position.

import { make, chip, replace, signed, tableOf } from "./dom.js";
import { shortName } from "./cards.js";
import { seatName, t } from "./i18n.js";

const round = (value) => signed(Math.round(value));

export function showOpinion(panel, opinion) {
  const cards = Object.entries(opinion.q).sort((a, b) => b[1].mean - a[1].mean);
  const parts = [make("p", { textContent: t("wouldPlay", { card: shortName(opinion.card) }) })];
  if (cards.length) {
    parts.push(make("h3", { textContent: t("qTitle") }), ...bars(cards, opinion.card));
  } else {
    parts.push(make("p", { textContent: t("forced") }));
  }
  const owners = Object.entries(opinion.owners);
  if (owners.length) parts.push(make("h3", { textContent: t("ownersTitle") }), ownersTable(owners));
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

function ownersTable(owners) {
  // The one who thinks holds none of them.
  const others = [0, 1, 2, 3].filter((seat) => owners.some(([, shares]) => shares[seat] > 0));
  const percent = (share) => (share > 0 ? `${Math.round(100 * share)} %` : "");
  return make("div", { className: "scroll" }, tableOf(
    ["", ...others.map(seatName)],
    owners.map(([card, shares]) => [chip(card), ...others.map((seat) => percent(shares[seat]))]),
    { className: "owners" }));
}
