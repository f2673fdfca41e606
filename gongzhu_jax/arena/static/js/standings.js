// How strong the programs are.

import { $, complain, make, replace, signed, tableOf } from "./dom.js";
import { playerName, t } from "./i18n.js";
import { getJson } from "./server.js";

let rows = null;

export async function openStandings() {
  try {
    rows = (await getJson("api/ratings")).players;
  } catch (error) {
    complain(error);
    return;
  }
  drawStandings();
}

export function drawStandings() {
  if (!rows) return;
  if (!rows.length) {
    replace($("leaderboard"), make("caption", { textContent: t("noMatches") }));
    return;
  }
  const table = tableOf(["player", "rating", "error", "deals", "clockMoves"].map((key) => t(key)),
    rows.map((row) => [playerName(row.player), signed(row.rating.toFixed(1)),
      row.standard_error === null ? "–" : `± ${row.standard_error.toFixed(1)}`,
      String(row.deals), String(row.clock_moves)]));
  replace($("leaderboard"), ...table.children);
}
