// The table where I play: felt, hand, scores, clock.

import { $, button, make, picture, replace, signed } from "./dom.js";
import { sortHand } from "./cards.js";
import { drawPlaces, drawTrick, gamePlaces } from "./felt.js";
import { playerName, seatAndName, seatName, spokenCard, t } from "./i18n.js";
import { isMyTeam, teams } from "./model.js";

const NOTHING = [[], [], [], []];

export function drawTable(model) {
  const { info, seat, view } = model;
  drawPlaces(gamePlaces(), { seats: info.seats, mine: seat, me: true, points: view?.scores ?? null,
    taken: view?.taken ?? NOTHING, toMove: view?.to_move ?? null });
  drawTrick($("trick"), model.showing ?? view?.trick, seat);
  drawScores($("scores"), info.seats.map((place) => place.name), seat,
    view?.scores ?? [0, 0, 0, 0], model.end || info.games > 0 ? sums(model) : null);
  $("scores").hidden = view === null;
  $("prompt").textContent = promptText(model);
}

/** Totals over the games of this table, the one on the table included. */
function sums(model) {
  const running = model.end || !model.view ? [0, 0, 0, 0] : model.view.scores;
  return model.info.totals.map((total, seat) => total + running[seat]);
}

/** Points by player and by team, with `totals` if there are any; `mine` is null for strangers. */
export function drawScores(table, names, mine, points, totals) {
  const cells = (label, game, total) => [label, signed(game), ...(totals ? [signed(total)] : [])];
  const head = ["player", "thisGame", ...(totals ? ["total"] : [])].map((key) => t(key));
  const row = (texts, className = "") => make("tr", { className },
    ...texts.map((text) => make("td", { textContent: text })));
  const [gameTeams, sumTeams] = [teams(points), teams(totals ?? points)];
  const teamLabel = (team) => {
    if (mine === null) return t(`teamNames${team}`);
    return t(isMyTeam(team, mine) ? "ourTeam" : "theirTeam");
  };
  const order = mine === null || mine % 2 === 0 ? [0, 1] : [1, 0];
  replace(table, make("thead", {}, make("tr", {},
    ...head.map((text) => make("th", { scope: "col", textContent: text })))),
  make("tbody", {}, ...order.flatMap((team) => [
    row(cells(teamLabel(team), gameTeams[team], sumTeams[team]), "team"),
    ...[team, team + 2].map((seat) =>
      row(cells(seatAndName(seat, names[seat]), points[seat], totals?.[seat]), "member")),
  ])));
}

/** The hand as buttons; `onPlay(card)` is called for any that is pressed. Cards that stay keep
 * their buttons: one that were exchanged between press and release would not be clicked. */
export function drawHand(model, opinion, onPlay) {
  const hand = $("hand");
  const focused = document.activeElement?.closest?.("#hand button")?.dataset.card;
  const cards = model.view ? sortHand(model.view.hand) : [];
  hand.classList.toggle("my-turn", model.turn);
  const there = new Map([...hand.children].map((one) => [one.dataset.card, one]));
  if (cards.every((card) => there.has(card))) {
    for (const [card, one] of there) if (!cards.includes(card)) one.remove();
  } else {
    replace(hand, ...cards.map((card) => there.get(card) ?? cardButton(card, onPlay)));
  }
  const buttons = [...hand.children];
  for (const one of buttons) describeCard(one, model, opinion);
  const legal = buttons.find((one) => one.getAttribute("aria-disabled") === "false");
  const target = buttons.find((one) => one.dataset.card === focused) ?? legal ?? buttons[0];
  if (target) target.tabIndex = 0;
  if (focused && target) target.focus();
}

function cardButton(card, onPlay) {
  const element = button("", () => onPlay(card));
  element.append(picture(card));
  element.dataset.card = card;
  return element;
}

/** What may change while a card is in the hand. */
function describeCard(element, model, opinion) {
  const { card } = element.dataset;
  const legal = model.turn && model.view.legal.includes(card);
  const hint = model.turn && !legal ? `, ${t("notLegal")}` : "";
  const q = opinion?.q[card];
  element.tabIndex = -1;
  element.setAttribute("aria-disabled", String(!legal));
  element.setAttribute("aria-label", spokenCard(card) + hint);
  element.querySelector("[role=img]").setAttribute("aria-label", spokenCard(card));
  element.querySelector(".q")?.remove();
  if (q) element.append(make("span", { className: "q", textContent: signed(Math.round(q.mean)) }));
  element.classList.toggle("best", Boolean(q) && opinion.card === card);
}

const STEPS = new Map([["ArrowLeft", -1], ["ArrowRight", 1], ["Home", -99], ["End", 99]]);

/** Arrow keys walk along the hand; Enter and the space bar press, as everywhere. */
export function walkHand(event) {
  const step = STEPS.get(event.key);
  const buttons = [...$("hand").children];
  const now = buttons.indexOf(document.activeElement);
  if (step === undefined || now < 0) return;
  event.preventDefault();
  const next = buttons[Math.max(0, Math.min(buttons.length - 1, now + step))];
  buttons[now].tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}

function promptText(model) {
  if (model.turn) return t("yourTurn");
  if (isPreparing(model)) {
    return t("preparing", { names: model.info.preparing.map(playerName).join(", ") });
  }
  if (model.end) return t("gameEnded");
  if (model.info.phase === "waiting") {
    return t(model.info.seats.some((seat) => seat.kind === "free") ? "waitSeats" : "waitReady");
  }
  const mover = model.view?.to_move ?? null;
  return mover === null ? ""
    : t("waitFor", { name: seatAndName(mover, model.info.seats[mover].name) });
}

/** Whether programs of our players are still being compiled. */
export const isPreparing = (model) => (model.info?.preparing?.length ?? 0) > 0;

export function drawClock(model, now) {
  const left = model.deadline === null ? null : Math.max(0, Math.ceil(model.deadline - now));
  $("clock").textContent = left === null ? "" : t("secondsLeft", { n: left });
  $("clock").classList.toggle("short", left !== null && left <= 10);
}

export function drawLastTrick(model) {
  const last = model.view?.last_trick ?? null;
  $("last-trick-button").hidden = last === null;
  if (last === null) $("last-trick").hidden = true;
  $("last-trick-button").setAttribute("aria-expanded", String(!$("last-trick").hidden));
  if (last === null) return;
  const figures = last.cards.map((card, i) => make("figure", {}, picture(card),
    make("figcaption", { textContent: seatName((last.leader + i) % 4) })));
  const winner = seatAndName(last.winner, model.info.seats[last.winner].name);
  replace($("last-trick"), make("div", { className: "mini" }, ...figures),
    make("p", { textContent: t("tookIt", { name: winner }) }));
}
