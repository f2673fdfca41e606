// The leaderboard.

import { $, make, replace, signed } from "./dom.js";
import { playerName, t } from "./i18n.js";

export async function drawStandings() {
  const answer = await fetch("/api/leaderboard");
  const rows = answer.ok ? await answer.json() : [];
  if (!rows.length) {
    replace($("leaderboard"), make("caption", { textContent: t("noMatches") }));
    return;
  }
  const head = make("tr", {}, ...["player", "mean", "error", "deals", "winRate"].map((key) =>
    make("th", { scope: "col", textContent: t(key) })));
  const body = rows.map((row) => make("tr", {}, ...[
    playerName(row.player),
    signed(row.mean.toFixed(1)),
    row.standard_error === null ? "–" : `± ${row.standard_error.toFixed(1)}`,
    row.deals,
    `${Math.round(100 * row.win_rate)} %`,
  ].map((text) => make("td", { textContent: text }))));
  replace($("leaderboard"), make("thead", {}, head), make("tbody", {}, ...body));
}
