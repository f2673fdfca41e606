// A finished game, move by move, with all hands open and ScrofaZero's opinion of each move.

import { $, chip, make, replace } from "./dom.js";
import { shortName, sortHand } from "./cards.js";
import { drawFelt } from "./felt.js";
import { errorText, seatAndName, seatName, t } from "./i18n.js";
import { seatsOfPlays, takenIn, tricksOf } from "./model.js";
import { showOpinion } from "./opinion.js";
import { getJson, patiently } from "./server.js";

let game = null; // what is replayed
let stage = 0; // cards that are on the table or were

/** `game` has id, token, players, hands, leader, plays, mine (the seat at the bottom), me, and
 * `duplicate`: whether it is the deal played again, of which no opinions are kept. */
export function openReplay(opened, at = 0) {
  game = { ...opened, seats: seatsOfPlays(opened.plays, opened.leader), opinions: new Map() };
  goTo(at);
}

export function goTo(wanted) {
  stage = Math.max(0, Math.min(game.plays.length, wanted));
  drawReplay();
}

export function drawReplay() {
  if (!game) return;
  $("replay-title").textContent = t(game.duplicate ? "replayDuplicate" : "replayOf");
  $("replay-stage").value = stage;
  drawTable();
  drawHands();
  drawText();
  drawOpinion();
}

function drawTable() {
  const tricks = tricksOf(game.plays.slice(0, stage), game.leader);
  drawFelt($("replay-felt"), {
    seats: game.players.map((name) => ({ name })), mine: game.mine, me: game.me, points: null,
    taken: takenIn(tricks), toMove: stage < game.plays.length ? game.seats[stage] : null,
    trick: tricks.at(-1) });
}

function drawHands() {
  const gone = new Set(game.plays.slice(0, stage));
  const next = game.plays[stage];
  replace($("replay-hands"), ...game.hands.map((hand, seat) => {
    const cards = sortHand(hand).map((card) => {
      const element = chip(card);
      element.classList.toggle("gone", gone.has(card));
      element.classList.toggle("now", card === next);
      return element;
    });
    return make("div", { className: "row" }, make("span", { textContent: seatName(seat) }), ...cards);
  }));
}

const playText = (at) => t("plays", { card: shortName(game.plays[at]),
  name: seatAndName(game.seats[at], game.players[game.seats[at]]) });

function drawText() {
  $("replay-text").textContent = stage === 0 ? t("start") : `${stage}. ${playText(stage - 1)}`;
}

/** Of the move that comes next. */
async function drawOpinion() {
  const panel = $("replay-opinion");
  const [of, at] = [game, stage];
  panel.hidden = of.duplicate || at >= of.plays.length;
  if (panel.hidden) return;
  const heading = make("p", {}, make("strong", { textContent: `${at + 1}. ${playText(at)}` }));
  const body = make("div", { textContent: t("analysing") });
  replace(panel, heading, body);
  try {
    const opinion = await opinionOf(of, at);
    if (opinion && game === of && stage === at) showOpinion(body, opinion);
  } catch (error) {
    body.textContent = t("noAnalysis", { reason: errorText(error) });
  }
}

async function opinionOf(of, at) {
  if (!of.opinions.has(at)) {
    // A reader who moves on quickly asks for nothing on the way.
    await new Promise((resolve) => setTimeout(resolve, 250));
    if (game !== of || stage !== at) return null;
    of.opinions.set(at, await patiently(
      () => getJson(`api/games/${of.id}/opinion/${at}`, { token: of.token }),
      () => game === of && stage === at));
  }
  return of.opinions.get(at);
}

/** Once, when the page is loaded. */
export function startReplay() {
  const press = (id, target) => $(id).addEventListener("click", () => goTo(target()));
  press("replay-first", () => 0);
  press("replay-back", () => stage - 1);
  press("replay-on", () => stage + 1);
  press("replay-last", () => game.plays.length);
  $("replay-stage").addEventListener("input", (event) => goTo(Number(event.target.value)));
}
