// A finished game, move by move, with all hands open and ScrofaZero's opinion of each move.

import { $, chip, make, replace } from "./dom.js";
import { shortName, sortHand } from "./cards.js";
import { playerName, t } from "./i18n.js";
import { seatsOfPlays } from "./model.js";
import { showOpinion } from "./opinion.js";
import { spots } from "./table.js";

let game = null; // what is replayed
let stage = 0; // cards that are on the table or were

/** `end` is a "game_end" message, `names` are of the seats, `mine` is where I sit. */
export function openReplay(end, names, mine) {
  const seats = seatsOfPlays(end.plays, end.leader);
  game = { id: end.game, names, mine, hands: end.hands, plays: end.plays, seats,
    opinions: new Map() };
  goTo(0);
}

export function goTo(wanted) {
  stage = Math.max(0, Math.min(game.plays.length, wanted));
  draw();
}

export const goBy = (step) => goTo(stage + step);
export const goToEnd = () => goTo(game.plays.length);

export function draw() {
  if (!game) return;
  $("replay-stage").value = stage;
  drawTrick();
  drawHands();
  drawText();
  drawOpinion();
}

function drawTrick() {
  const start = stage === 0 ? 0 : stage - 1 - ((stage - 1) % 4);
  const trick = { leader: game.seats[start], cards: game.plays.slice(start, stage) };
  if (trick.cards.length === 4 && stage < game.plays.length) trick.winner = game.seats[stage];
  replace($("replay-trick"), ...spots(trick, game.mine));
}

function drawHands() {
  const gone = new Set(game.plays.slice(0, stage));
  const now = game.plays[stage];
  replace($("replay-hands"), ...game.hands.map((hand, seat) => {
    const cards = sortHand(hand).map((card) => {
      const element = chip(card);
      element.classList.toggle("gone", gone.has(card));
      element.classList.toggle("now", card === now);
      return element;
    });
    const name = make("span", { textContent: `${seat + 1} · ${playerName(game.names[seat])}` });
    return make("div", { className: "row" }, name, ...cards);
  }));
}

function drawText() {
  const last = stage - 1;
  $("replay-text").textContent = last < 0 ? t("start") : `${stage}. ` + t("plays", {
    name: playerName(game.names[game.seats[last]]), card: shortName(game.plays[last]) });
}

/** Of the move that comes next. */
async function drawOpinion() {
  const panel = $("replay-opinion");
  const [of, at] = [game, stage];
  if (at >= of.plays.length) {
    replace(panel);
    return;
  }
  const heading = make("p", {}, make("strong", { textContent: t("plays", {
    name: playerName(of.names[of.seats[at]]), card: shortName(of.plays[at]) }) }));
  const body = make("div", { textContent: t("analysing") });
  replace(panel, heading, body);
  try {
    const found = await opinionOf(of, at);
    if (game === of && stage === at) showOpinion(body, found, of.names);
  } catch (error) {
    body.textContent = t("noAnalysis", { reason: error.message });
  }
}

async function opinionOf(of, at) {
  if (!of.opinions.has(at)) {
    // A reader who moves on quickly asks for nothing on the way.
    await new Promise((resolve) => setTimeout(resolve, 250));
    if (game !== of || stage !== at) return Promise.reject(new Error("…"));
    const answer = await fetch(`/api/games/${of.id}/opinion/${at}`);
    const body = await answer.json();
    if (!answer.ok) throw new Error(body.message ?? answer.statusText);
    of.opinions.set(at, body);
  }
  return of.opinions.get(at);
}
