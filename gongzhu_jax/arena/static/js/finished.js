// A finished game at its permanent address: result, report, replay.

import { $, copyText, notice } from "./dom.js";
import { errorText, isOwnPlayer, t } from "./i18n.js";
import { handsOf, marginOf } from "./model.js";
import * as game from "./game.js";
import { drawReplay, goTo, openReplay } from "./replay.js";
import { closeReport, drawReport, openReport } from "./report.js";
import { go } from "./router.js";
import { getJson } from "./server.js";
import { myGame } from "./storage.js";
import { drawScores } from "./table.js";

let shown = null; // { id, seat, me, token, record, duplicate }

/** `value` is "ID", "ID/SEAT" or "ID/SEAT/STAGE" from the address; whether there is such a game. */
export async function openFinished(value) {
  const [id, seat, stage] = value.split("/").map((part) => (/^\d+$/.test(part) ? Number(part) : NaN));
  if (shown?.id === id && shown.wanted === value) return true;
  const mine = myGame(id);
  let record;
  try {
    record = await getJson(`api/games/${id}`, { token: mine?.token });
  } catch (error) {
    notice(() => (error.code === "unknown" ? t("noGame") : errorText(error)));
    return false;
  }
  const people = [0, 1, 2, 3].filter((one) => !isOwnPlayer(record.players[one]));
  const of = [0, 1, 2, 3].includes(seat) ? seat : mine?.seat ?? people[0] ?? 0;
  shown = { id, wanted: value, seat: of, me: mine?.seat === of, token: mine?.token, record,
    duplicate: null };
  drawResult();
  replayOf(record.plays, stage || 0);
  openReport({ id, seat: of, me: shown.me, name: record.players[of], token: shown.token,
    onLook: look, onDuplicate: showDuplicate });
  return true;
}

export function closeFinished() {
  shown = null;
  closeReport();
}

export function drawFinished() {
  if (!shown) return;
  drawResult();
  drawReport();
  drawReplay();
}

function drawResult() {
  const { id, seat, me, record } = shown;
  $("verdict").textContent = verdict(record.scores, seat, me);
  drawScores($("final-scores"), record.players, me ? seat : null, record.scores, null);
  const mine = game.lastGame() === id;
  $("next-game").hidden = $("leave-table").hidden = !mine;
  $("download-game").href = new URL(`api/games/${id}`, document.baseURI).href;
  const today = new Date().toISOString().slice(0, 10);
  $("hidden-today").hidden = record.metadata.daily !== today;
}

function verdict(scores, seat, me) {
  const margin = marginOf(scores, me ? seat : 0);
  if (margin === 0) return t("drawn");
  if (me) return t(margin > 0 ? "won" : "lost", { n: Math.abs(margin) });
  return t("teamWon", { team: t(margin > 0 ? "teamNames0" : "teamNames1"), n: Math.abs(margin) });
}

function replayOf(plays, stage, players = shown.record.players, duplicate = false) {
  const { id, seat, me, token, record } = shown;
  openReplay({ id, token, players, plays, leader: record.leader, hands: handsOf(record.deal),
    mine: seat, me: me && !duplicate, duplicate }, stage);
  shown.duplicate = duplicate ? plays : null;
}

function look(stage) {
  if (shown.duplicate) replayOf(shown.record.plays, stage);
  else goTo(stage);
  $("replay").scrollIntoView({ behavior: "smooth", block: "start" });
}

function showDuplicate(again) {
  replayOf(again.plays, 0, again.players, true);
  $("replay").scrollIntoView({ behavior: "smooth", block: "start" });
}

/** Once, when the page is loaded. */
export function startFinished() {
  $("next-game").addEventListener("click", game.nextGame);
  $("leave-table").addEventListener("click", async () => { if (await game.leave()) go("#"); });
  $("copy-game").addEventListener("click", () =>
    copyText(new URL(`#game=${shown.id}/${shown.seat}`, document.baseURI).href));
  addEventListener("seat-lost", () => { if (shown) drawResult(); });
}
