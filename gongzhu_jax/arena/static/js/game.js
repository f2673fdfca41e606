// My seat at a table: what the server says, shown with time to see it, and what I do.

import { $, announce, complain, confirmed, copyText, notice, replace } from "./dom.js";
import { errorText, reasonText, seatName, spokenCard, t } from "./i18n.js";
import { canPlay, clearTrick, newModel, playOwn, update } from "./model.js";
import { showOpinion } from "./opinion.js";
import { go, isAt } from "./router.js";
import { ask, getJson, patiently, tell } from "./server.js";
import { dropSeat, dropTab, keepGame, keepSeat, keptSeats, seatOfTab } from "./storage.js";
import { drawClock, drawHand, drawLastTrick, drawTable } from "./table.js";

// Programs answer at once; people want to see each card come.
const speed = Number(new URLSearchParams(location.search).get("speed") ?? 1);
const PAUSE = new Map([["played", 450 * speed], ["trick_end", 1100 * speed]]);
const MOST_WAITING = 12; // messages: with more than that behind, nothing is waited for

const model = newModel();
const queue = [];
let opinion = null;
let running = false;

const now = () => performance.now() / 1000;
const here = () => ({ table: model.table, seat: model.seat });

export const isSeated = () => model.table !== null;
export const isMyTurn = () => model.turn;
export const isPlaying = () => isSeated() && model.view !== null && model.end === null;
/** The game that has just ended at my table, if any. */
export const lastGame = () => model.end?.game ?? null;

// sitting down and getting up

/** `answer` is a "seated" message. */
export function seated(answer) {
  queue.length = 0;
  opinion = null;
  update(model, answer, now());
  keepSeat({ ...here(), token: answer.token, invitation: answer.invitation ?? null });
}

export async function sitDown(type, fields) {
  seated(await ask(type, fields));
  tell("ready", here());
  go("#play");
}

/** Takes up the seat of this tab or, if there may be `others`, one that was left by closing its
 * tab; whether there is one. */
export async function comeBack(others) {
  const mine = seatOfTab();
  if (mine || !others) return mine !== null && await returnTo(mine);
  for (const seat of keptSeats()) {
    if (await isLeft(seat) && await returnTo(seat)) {
      notice(() => t("welcomeBack"));
      return true;
    }
  }
  return false;
}

/** Whether a seat is there and nobody sits on it, in another tab for example. */
async function isLeft({ table, seat, token, invitation }) {
  try {
    const found = await getJson(`api/tables/${table}`, { invitation });
    return !found.seats[seat].connected;
  } catch (error) {
    if (error.code === "unknown") dropSeat({ table, seat, token });
    return false;
  }
}

async function returnTo(seat) {
  queue.length = 0;
  try {
    seated(await ask("reconnect", { table: seat.table, seat: seat.seat, token: seat.token }));
    return true;
  } catch (error) {
    if (error.code !== "gone") {
      dropSeat(seat);
      complain(error);
    }
    if (model.end === null) forget();
    return false;
  }
}

/** Gives the seat up, after a question if a game is on; whether it was. */
export async function leave() {
  if (isPlaying()) {
    const alone = model.info.seats.filter((seat) => seat.kind === "client").length < 2;
    const question = model.info.daily ? "leaveDaily" : alone ? "leaveAlone" : "leaveQuestion";
    if (!await confirmed(t(question), t("leaveYes"), t("leaveNo"))) return false;
  }
  if (isSeated()) tell("leave", here());
  forget();
  return true;
}

function forget() {
  if (isSeated()) dropSeat(here());
  queue.length = 0;
  opinion = null;
  Object.assign(model, newModel());
  drawReturn();
}

// play

function play(card) {
  if (!canPlay(model, card)) return;
  const { stage } = model.view;
  playOwn(model);
  opinion = null;
  draw();
  ask("play", { ...here(), stage, card }).catch((error) => {
    complain(error);
    const mine = seatOfTab();
    if (mine && error.code !== "gone") returnTo(mine);
  });
}

export function nextGame() {
  tell("ready", here());
  go("#play");
}

// what the server says

export function receive(message) {
  queue.push(message);
  if (!running) work();
}

/** Messages one by one, with time to see what they say. */
async function work() {
  running = true;
  while (queue.length) {
    const message = queue.shift();
    handle(message);
    const pause = queue.length > MOST_WAITING || document.hidden ? 0 : PAUSE.get(message.type);
    if (pause) await new Promise((resolve) => setTimeout(resolve, pause));
  }
  running = false;
}

function handle(message) {
  if (message.table !== model.table) return;
  if (message.type === "replaced" || message.type === "closed") {
    getUp(message);
    return;
  }
  if (message.type === "played" || message.type === "turn") clearTrick(model);
  update(model, message, now());
  if (message.type === "played" || message.type === "view") opinion = null;
  speak(message);
  if (message.type === "played" && message.by === "clock" && message.seat === model.seat) {
    notice(() => t("byClock"));
  }
  if (message.type === "game_end") {
    keepGame(message.game, model.seat, model.token);
    if (isAt("play")) go(`#game=${message.game}/${model.seat}`);
  }
  if (message.type === "turn") analyse();
  draw();
}

function getUp(message) {
  if (message.type === "replaced") dropTab();
  else dropSeat(here());
  const ended = model.end !== null;
  if (message.type === "replaced" || !ended) {
    notice(() => (message.type === "replaced" ? t("replaced")
      : t("tableClosed", { reason: reasonText(message.reason) })));
  }
  queue.length = 0;
  Object.assign(model, newModel());
  drawReturn();
  if (isAt("play")) go("#");
  else dispatchEvent(new Event("seat-lost"));
}

/** For those who hear the page: what is played, and who takes the trick. */
function speak(message) {
  if (message.type === "played") {
    announce(t("plays", { name: seatName(message.seat), card: spokenCard(message.card) }));
  } else if (message.type === "trick_end") {
    announce(t("takesTrick", { name: seatName(message.trick.winner) }));
  }
}

async function analyse() {
  if (!$("analysis-on").checked || !model.turn || !model.info?.analysis) return;
  const { stage } = model.view;
  const asked = here();
  const isStill = () => asked.table === model.table && model.turn && model.view.stage === stage;
  replace($("analysis"), t("analysing"));
  $("analysis").hidden = false;
  try {
    const answer = await patiently(() => ask("analyse", { ...asked, stage }), isStill);
    if (!isStill()) return;
    opinion = answer;
  } catch (error) {
    if (isStill()) replace($("analysis"), t("noAnalysis", { reason: errorText(error) }));
    return;
  }
  draw();
}

// drawing

export function inviteLink() {
  const code = model.invitation === null ? "" : `.${model.invitation}`;
  return new URL(`#join=${model.table}${code}`, document.baseURI).href;
}

export function draw() {
  drawReturn();
  if (!model.info) return;
  drawTable(model);
  const shown = $("analysis-on").checked ? opinion : null;
  drawHand(model, shown, play);
  drawLastTrick(model);
  const waiting = model.info.phase === "waiting" || model.info.phase === "preparing";
  const open = model.info.seats.some((seat) => seat.kind === "free");
  $("invite").hidden = !(waiting && open);
  $("invite-link").value = inviteLink();
  $("ready").hidden = !waiting || model.info.seats[model.seat].ready;
  $("analysis-toggle").hidden = !model.info.analysis;
  if (shown) showOpinion($("analysis"), shown);
  $("analysis").hidden = !$("analysis-on").checked || !(shown || (model.turn && $("analysis").firstChild));
  if (!model.turn) replace($("analysis"));
}

/** The way back to the table, on all other pages. */
export function drawReturn() {
  const over = model.end !== null && isAt("game"); // that page has a button for the next game
  $("return").hidden = !isSeated() || isAt("play") || over;
  $("return").textContent = t(model.turn ? "backYourTurn" : "backToGame");
}

function toggleLastTrick() {
  $("last-trick").hidden = !$("last-trick").hidden;
  drawLastTrick(model);
}

/** Once, when the page is loaded. */
export function startGame() {
  $("ready").addEventListener("click", () => tell("ready", here()));
  $("leave").addEventListener("click", async () => { if (await leave()) go("#"); });
  $("last-trick-button").addEventListener("click", toggleLastTrick);
  $("analysis-on").addEventListener("change", () => { draw(); analyse(); });
  $("copy-invite").addEventListener("click", () => copyText(inviteLink()));
  setInterval(() => drawClock(model, now()), 250);
}
