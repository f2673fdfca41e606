// The deal of the day: the invitation to play it, and its table of margins.

import { $, button, complain, link, make, replace, signed, tableOf } from "./dom.js";
import { playerName, t } from "./i18n.js";
import * as game from "./game.js";
import { isAt, place } from "./router.js";
import { getJson, welcome } from "./server.js";
import { myGame } from "./storage.js";

const today = () => new Date().toISOString().slice(0, 10);
const neighbour = (day, step) =>
  new Date(Date.parse(`${day}T12:00Z`) + step * 86_400_000).toISOString().slice(0, 10);

const WAIT = 2000; // ms
let shown = null; // the answer of the server
let play = null; // starts the game, under the name in the form

async function load(day) {
  shown = await getJson("api/daily", { day, name: welcome()?.name });
}

/** In the lobby. */
export async function openDailyBox(onPlay) {
  play = onPlay;
  try {
    await load(today());
  } catch {
    shown = null;
  }
  drawDailyBox();
}

export function drawDailyBox() {
  $("daily-box").hidden = !shown || shown.player === null;
  if (!shown) return;
  replace($("daily-box"), make("h2", { textContent: t("daily") }),
    make("p", { textContent: t("dailyHelp") }), ...yours(),
    make("p", { className: "buttons" }, ...buttons(), link(t("dailyTable"), "#daily")));
}

/** The page of one day; until our players have played its deal it is looked at again. */
export async function openDaily(day, onPlay) {
  play = onPlay;
  try {
    await load(day || today());
  } catch (error) {
    complain(error);
    return;
  }
  drawDaily();
  if (shown.benchmark === null && shown.games > 0) {
    setTimeout(() => { if (isAt("daily") && place().value === day) openDaily(day, onPlay); }, WAIT);
  }
}

export function drawDaily() {
  if (!shown) return;
  const { day, benchmark, results, games, player } = shown;
  const rows = results.map((row, i) => [String(i + 1), nameCell(row), signed(row.margin),
    benchmark === null ? "–" : signed(row.margin - benchmark)]);
  if (benchmark !== null) rows.push(["", playerName(player), signed(benchmark), ""]);
  const isToday = day === today();
  replace($("daily"), make("h2", { textContent: t("daily") }),
    make("p", { textContent: t("dailyDay", { day }) }),
    make("p", { textContent: t("dailyHelp") }), ...yours(),
    make("p", { className: "buttons" }, ...(isToday ? buttons() : [])),
    make("p", { textContent: games ? t("dailyCount", { n: games }) : t("dailyNobody") }),
    rows.length ? tableOf(["rank", "player", "margin", "againstScrofa"].map((key) => t(key)), rows,
      { id: "daily-table" }) : null,
    make("p", { className: "buttons" }, link(t("dayBefore"), `#daily=${neighbour(day, -1)}`),
      isToday ? null : link(t("dayAfter"), `#daily=${neighbour(day, 1)}`)));
}

const nameCell = (row) => (row.game === null ? row.name
  : make("a", { textContent: row.name, href: `#game=${row.game}` }));

function yours() {
  const mine = shown.yours;
  if (!mine) return [];
  const text = mine.margin === null ? t("dailyTried", { name: mine.name })
    : t("dailyYours", { n: signed(mine.margin) });
  return [make("p", {}, make("strong", { textContent: text }))];
}

function buttons() {
  const mine = shown.yours;
  if (mine && mine.game !== null && myGame(mine.game)) {
    return [link(t("dailySee"), `#game=${mine.game}/0`)];
  }
  if (mine || game.isPlaying()) return [];
  return [button(t("dailyPlay"), () => play(), { className: "main", id: "play-daily" })];
}
