// What ScrofaZero thinks of somebody's play in a finished game, and how it does with the same cards.

import { $, button, chip, make, replace, signed, tableOf } from "./dom.js";
import { shortName } from "./cards.js";
import { errorText, playerName, seatName, t } from "./i18n.js";
import { getJson } from "./server.js";

const POLL = 1000; // ms

let shown = null; // { id, seat, me, name, token, report, error, onLook, onDuplicate }

/** Asks for the report until it is there, and draws it as it grows. */
export async function openReport(wanted) {
  const mine = { ...wanted, report: null, error: null };
  shown = mine;
  while (shown === mine && mine.report?.state !== "ready") {
    try {
      mine.report = await getJson(`api/games/${mine.id}/report`,
        { seat: mine.seat, token: mine.token });
      mine.error = null;
    } catch (error) {
      mine.error = error;
    }
    if (shown !== mine) return;
    drawReport();
    const retried = mine.error && ["busy", "rate", "gone", "full"].includes(mine.error.code);
    if ((mine.error && !retried) || mine.report?.state === "failed") return;
    if (mine.report?.state !== "ready") {
      await new Promise((resolve) => setTimeout(resolve, mine.error ? 5 * POLL : POLL));
    }
  }
}

export function closeReport() {
  shown = null;
  $("report").hidden = true;
}

export function drawReport() {
  if (!shown) return;
  const { report, error } = shown;
  const heading = make("h3", { textContent: t("reportTitle") });
  $("report").hidden = false;
  if (report?.state === "ready") {
    replace($("report"), heading, ...summary(report), ...duplicate(report), moves(report));
  } else if (error) {
    const text = error.code === "busy" ? t("reportBusy") : errorText(error);
    replace($("report"), heading, make("p", { textContent: text }));
  } else if (report?.state === "failed") {
    replace($("report"), heading, make("p", { textContent: t("reportFailed") }));
  } else {
    const progress = make("progress", { max: report?.of ?? 1, value: report?.done ?? 0 });
    progress.setAttribute("aria-label", t("reportWorking"));
    replace($("report"), heading, make("p", { textContent: t("reportWorking") }), progress);
  }
}

const who = (key = "whoYou") => (shown.me ? t(key) : `${seatName(shown.seat)} (${playerName(shown.name)})`);
const points = (loss) => Math.max(1, Math.round(loss));
const trickOf = (move) => Math.floor(move.stage / 4) + 1;

function summary({ moves: all, mistakes, worst, loss }) {
  const choices = all.filter((move) => Object.keys(move.q).length > 0);
  if (!mistakes.length) return [make("p", { textContent: t("gaveNothing", { who: who() }) })];
  const text = t("gaveAwayAll", { who: who(), n: points(loss), moves: mistakes.length,
    choices: choices.length });
  const items = worst.map((stage) => {
    const move = all.find((other) => other.stage === stage);
    const said = t("gaveAway", { who: who(), n: points(move.loss), trick: trickOf(move),
      card: shortName(move.card), best: shortName(move.best) });
    return make("li", {}, make("span", { textContent: said }),
      button(t("look"), () => shown.onLook(stage)));
  });
  return [make("p", {}, make("strong", { textContent: text })),
    make("ol", { className: "worst" }, ...items)];
}

function duplicate({ duplicate: again, margin }) {
  if (!again) return [];
  const key = again.gain === 0 ? "duplicateEqual"
    : again.gain > 0 ? "duplicateBetter" : "duplicateWorse";
  const text = t(key, { who: who("whoYouInside"), theirs: signed(again.margin), yours: signed(margin),
    n: Math.abs(again.gain) });
  return [make("h3", { textContent: t("duplicateTitle") }),
    make("p", {}, make("strong", { textContent: text })),
    make("p", { className: "help", textContent: t("duplicateHelp") }),
    make("p", { className: "buttons" },
      button(t("showDuplicate"), () => shown.onDuplicate(again), { id: "show-duplicate" }),
      button(t("showOwn"), () => shown.onLook(0)))];
}

function moves({ moves: all, mistakes }) {
  const rows = all.map((move) => {
    const forced = Object.keys(move.q).length === 0;
    const late = move.by === "seat" ? "" : ` (${t("clockMove")})`;
    const amount = `${Math.round(move.loss)} ± ${Math.round(move.loss_error)}`;
    const lost = forced ? t("noChoice") : make("span", { textContent: amount + late,
      className: mistakes.includes(move.stage) ? "mistake" : "quiet" });
    const card = button(shortName(move.card), () => shown.onLook(move.stage),
      { className: chip(move.card).className });
    return [String(trickOf(move)), card, forced ? "" : chip(move.best), lost];
  });
  return make("details", { open: true }, make("summary", { textContent: t("allMoves") }),
    tableOf(["trickNumber", "played", "best", "given"].map((key) => t(key)), rows,
      { id: "moves" }));
}
