// The table as people see it: places, trick, hand, scores.

import { $, chip, make, picture, replace, signed } from "./dom.js";
import { sortHand } from "./cards.js";
import { playerName, spokenCard, t } from "./i18n.js";
import { placeOf, teams } from "./model.js";

/** Names of the four seats, translated where they are ours. */
export const seatNames = (model) =>
  model.info.seats.map((seat, i) => (seat.name === null ? t("seat", { seat: i + 1 })
    : playerName(seat.name)));

export function drawTable(model) {
  drawPlaces(model);
  drawTrick(model);
  drawScores(model);
  drawPrompt(model);
}

function drawPlaces(model) {
  const names = seatNames(model);
  for (const element of document.querySelectorAll("#felt .place")) {
    const seat = (model.seat + Number(element.dataset.place)) % 4;
    const info = model.info.seats[seat];
    const away = info.kind === "client" && !info.connected ? ` (${t("away")})` : "";
    const mine = seat === model.seat ? ` (${t("you")})` : "";
    const points = model.view ? signed(model.view.scores[seat]) : "";
    const taken = model.view ? model.view.taken[seat] : [];
    element.classList.toggle("to-move", model.view !== null && model.view.to_move === seat);
    const cards = make("div", { className: "taken" }, ...sortHand(taken).map(chip));
    cards.setAttribute("aria-label", t("taken"));
    replace(element,
      make("div", { className: "who", textContent: names[seat] + mine + away }),
      make("div", { className: "points", textContent: points }), cards);
  }
}

function drawTrick(model) {
  const trick = model.showing ?? model.view?.trick;
  replace($("trick"), ...(trick ? spots(trick, model.seat) : []));
}

/** The cards of a trick where their players sit. */
export function spots(trick, mine) {
  return trick.cards.map((card, i) => {
    const seat = (trick.leader + i) % 4;
    const spot = picture(card);
    spot.className = trick.winner === seat ? "spot won" : "spot";
    spot.dataset.place = placeOf(seat, mine);
    spot.dataset.card = card;
    return spot;
  });
}

/** The hand as buttons; `onPlay(card)` is called for any that is pressed. */
export function drawHand(model, opinion, onPlay) {
  const hand = $("hand");
  const focused = document.activeElement?.closest?.("#hand button")?.dataset.card;
  const cards = model.view ? sortHand(model.view.hand) : [];
  hand.classList.toggle("my-turn", model.turn);
  replace(hand, ...cards.map((card) => cardButton(model, opinion, card, onPlay)));
  const buttons = [...hand.children];
  const legal = buttons.find((button) => button.getAttribute("aria-disabled") === "false");
  const target = buttons.find((button) => button.dataset.card === focused) ?? legal ?? buttons[0];
  if (target) target.tabIndex = 0;
  if (focused && target) target.focus();
}

function cardButton(model, opinion, card, onPlay) {
  const legal = model.turn && model.view.legal.includes(card);
  const button = make("button", { type: "button", tabIndex: -1 }, picture(card));
  button.dataset.card = card;
  button.setAttribute("aria-disabled", String(!legal));
  const hint = model.turn && !legal ? `, ${t("notLegal")}` : "";
  button.setAttribute("aria-label", spokenCard(card) + hint);
  const q = opinion?.q[card];
  if (q) {
    button.append(make("span", { className: "q", textContent: signed(Math.round(q.mean)) }));
    button.classList.toggle("best", opinion.card === card);
  }
  button.addEventListener("click", () => onPlay(card));
  return button;
}

/** Arrow keys walk along the hand; Enter and the space bar press, as everywhere. */
export function walkHand(event) {
  const step = { ArrowLeft: -1, ArrowRight: 1, Home: -99, End: 99 }[event.key];
  const buttons = [...$("hand").children];
  const now = buttons.indexOf(document.activeElement);
  if (step === undefined || now < 0) return;
  event.preventDefault();
  const next = buttons[Math.max(0, Math.min(buttons.length - 1, now + step))];
  buttons[now].tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}

function drawScores(model) {
  const points = model.view ? model.view.scores : [0, 0, 0, 0];
  replace($("scores"), ...scoreRows(seatNames(model), points, model.info.totals, !model.end));
}

/** Rows by player and by team. `running`: the totals do not hold this game yet. */
export function scoreRows(names, points, totals, running) {
  const sums = totals.map((total, seat) => total + (running ? points[seat] : 0));
  const row = (name, game, total) => make("tr", {},
    make("td", { textContent: name }), make("td", { textContent: signed(game) }),
    make("td", { textContent: signed(total) }));
  const head = make("tr", {}, ...["player", "thisGame", "total"].map((key) =>
    make("th", { scope: "col", textContent: t(key) })));
  const [gameTeams, sumTeams] = [teams(points), teams(sums)];
  return [make("thead", {}, head), make("tbody", {},
    ...names.map((name, seat) => row(`${seat + 1} · ${name}`, points[seat], sums[seat])),
    row(t("teamA"), gameTeams[0], sumTeams[0]), row(t("teamB"), gameTeams[1], sumTeams[1]))];
}

function drawPrompt(model) {
  $("prompt").textContent = promptText(model);
}

function promptText(model) {
  if (model.turn) return t("yourTurn");
  if (model.end) return t("gameEnded");
  if (model.info.phase === "waiting") {
    return t(model.info.seats.some((seat) => seat.kind === "free") ? "waitSeats" : "waitReady");
  }
  const mover = model.view?.to_move;
  return mover === null || mover === undefined ? "" : t("waitFor", { name: seatNames(model)[mover] });
}

export function drawClock(model, now) {
  const left = model.deadline === null ? null : Math.max(0, Math.ceil(model.deadline - now));
  $("clock").textContent = left === null ? "" : `${left} s`;
  $("clock").classList.toggle("short", left !== null && left <= 10);
}

export function drawLastTrick(model) {
  const last = model.view?.last_trick;
  const panel = $("last-trick");
  if (!last) {
    replace(panel, t("noTrick"));
    return;
  }
  const names = seatNames(model);
  const figures = last.cards.map((card, i) => make("figure", {}, picture(card),
    make("figcaption", { textContent: names[(last.leader + i) % 4] })));
  replace(panel, make("div", { className: "mini" }, ...figures),
    make("p", { textContent: t("tookIt", { name: names[last.winner] }) }));
}
