// The page: what is shown when, and what is said to the server.

import { $, make, picture, replace, translate } from "./dom.js";
import { Connection } from "./connection.js";
import { currentLanguage, has, setLanguage, t } from "./i18n.js";
import { drawLobby, drawTables, readForm } from "./lobby.js";
import { canPlay, clearTrick, newModel, playOwn, teams, update } from "./model.js";
import { showOpinion } from "./opinion.js";
import * as replay from "./replay.js";
import { drawStandings } from "./standings.js";
import { drawClock, drawHand, drawLastTrick, drawTable, scoreRows, seatNames, walkHand }
  from "./table.js";

const SEAT_KEY = "gongzhu.seat"; // of this window: two windows can be two people
const FORM_KEY = "gongzhu.form";
const NAME_KEY = "gongzhu.name";
const LANGUAGE_KEY = "gongzhu.language";

// Programs answer at once; people want to see each card come.
const speed = Number(new URLSearchParams(location.search).get("speed") ?? 1);
const PAUSE = { played: 450 * speed, trick_end: 1100 * speed };

const model = newModel();
const queue = [];
let connection = null;
let welcome = null;
let opinion = null;
let running = false;
let names = [];

const now = () => performance.now() / 1000;
const kept = (store, key) => JSON.parse(store.getItem(key) ?? "null");
const keep = (store, key, value) => store.setItem(key, JSON.stringify(value));

// sections

function show(...ids) {
  for (const id of ["lobby", "game", "summary", "replay", "standings"]) {
    $(id).hidden = !ids.includes(id);
  }
}

function notice(text) {
  $("notice").hidden = !text;
  $("notice").textContent = text ?? "";
}

const complain = (error) =>
  notice(has(`error.${error.code}`) ? t(`error.${error.code}`) : error.message);

function showLobby() {
  show("lobby");
  if (!welcome) return;
  drawLobby(welcome, kept(localStorage, FORM_KEY) ?? {});
  drawTables(sit).catch(() => {});
}

// connection

function guestName() {
  return kept(localStorage, NAME_KEY) ?? `${currentLanguage() === "zh" ? "客人" : "Guest"} ` +
    Math.floor(1000 + 9000 * Math.random());
}

function connect(name) {
  connection?.close();
  connection = new Connection(name, receive, connected);
}

async function connected(open, greeting, error) {
  if (!open) {
    if (error) {
      complain(error);
      localStorage.removeItem(NAME_KEY);
      $("name").value = "";
      show("lobby");
    } else {
      notice(t("connectionLost"));
    }
    return;
  }
  notice(null);
  welcome = greeting;
  $("name").value = greeting.name;
  const seat = kept(sessionStorage, SEAT_KEY);
  if (seat) await comeBack(seat);
  else await join(location.hash.match(/^#join=(\w+)$/)?.[1]);
}

async function comeBack(seat) {
  queue.length = 0;
  try {
    const { table, seat: number, token } = seat;
    receive(await connection.ask("reconnect", { table, seat: number, token }));
  } catch (error) {
    sessionStorage.removeItem(SEAT_KEY);
    complain(error);
    showLobby();
  }
}

/** The first free seat of a table that somebody sent a link to. */
async function join(table) {
  if (!table) {
    showLobby();
    return;
  }
  location.hash = "";
  const answer = await fetch("/api/tables");
  const found = (await answer.json()).find((other) => other.table === table);
  const seat = found ? found.seats.findIndex((place) => place.kind === "free") : -1;
  showLobby();
  if (seat < 0) notice(t("error.unknown"));
  else await sit(table, seat);
}

// what people do

async function createTable(event) {
  event.preventDefault();
  const form = readForm();
  keep(localStorage, FORM_KEY, form);
  const { others, ...fields } = form;
  await withName(async () => {
    $("analysis-on").checked = fields.analysis;
    receive(await connection.ask("create", fields));
    connection.tell("ready", { table: model.table, seat: model.seat });
  });
}

async function sit(table, seat) {
  await withName(async () => {
    receive(await connection.ask("sit", { table, seat }));
    connection.tell("ready", { table: model.table, seat: model.seat });
  });
}

/** Says hello again first if the name was changed. */
async function withName(work) {
  const name = $("name").value.trim();
  try {
    if (name && name !== welcome.name) {
      keep(localStorage, NAME_KEY, name);
      await new Promise((resolve, reject) => {
        connection.close();
        connection = new Connection(name, receive, (open, greeting, error) => {
          connection.onState = connected;
          welcome = greeting ?? welcome;
          if (open) resolve();
          else reject(error ?? new Error(t("connectionLost")));
        });
      });
    }
    notice(null);
    await work();
  } catch (error) {
    complain(error);
  }
}

function play(card) {
  if (!canPlay(model, card)) return;
  const { table, seat, view } = model;
  playOwn(model);
  opinion = null;
  draw();
  connection.ask("play", { table, seat, stage: view.stage, card }).catch((error) => {
    complain(error);
    const mine = kept(sessionStorage, SEAT_KEY);
    if (mine && error.code !== "gone") comeBack(mine);
  });
}

function ready() {
  show("game");
  connection.tell("ready", { table: model.table, seat: model.seat });
}

function leave() {
  connection.tell("leave", { table: model.table, seat: model.seat });
  forget();
}

function forget() {
  sessionStorage.removeItem(SEAT_KEY);
  queue.length = 0;
  Object.assign(model, newModel());
  showLobby();
}

// what the server says

function receive(message) {
  if (message.type === "seated") {
    queue.length = 0;
    opinion = null;
    update(model, message, now());
    keep(sessionStorage, SEAT_KEY,
      { table: message.table, seat: message.seat, token: message.token });
    return;
  }
  if (message.type === "error") {
    complain(message);
    return;
  }
  queue.push({ ...message, at: now() }); // time runs from here, however long it waits
  if (!running) work();
}

/** Messages one by one, with time to see what they say. */
async function work() {
  running = true;
  while (queue.length) {
    const message = queue.shift();
    handle(message);
    const pause = PAUSE[message.type];
    if (pause) await new Promise((resolve) => setTimeout(resolve, pause));
  }
  running = false;
}

function handle(message) {
  if (message.table !== model.table) return;
  if (message.type === "replaced" || message.type === "closed") {
    const text = message.type === "replaced" ? t("replaced")
      : t("tableClosed", { reason: message.reason });
    if (model.end) sessionStorage.removeItem(SEAT_KEY);
    else forget();
    notice(text);
    return;
  }
  if (message.type === "played" || message.type === "turn") clearTrick(model);
  update(model, message, message.at);
  if (message.type === "played" || message.type === "view") opinion = null;
  if (message.type === "played" && message.by === "clock" && message.seat === model.seat) {
    notice(t("byClock"));
  }
  if (message.type === "game_end") showSummary();
  else if (message.type === "turn" || message.type === "view") show("game");
  else if ($("game").hidden && $("summary").hidden && $("replay").hidden) show("game");
  if (message.type === "turn") analyse();
  draw();
}

async function analyse() {
  if (!$("analysis-on").checked || !model.turn || !model.info?.analysis) return;
  const { table, seat, view } = model;
  $("analysis").textContent = t("analysing");
  try {
    const found = await connection.ask("analyse", { table, seat, stage: view.stage });
    if (model.turn && model.view.stage === found.stage) opinion = found;
  } catch (error) {
    $("analysis").textContent = t("noAnalysis", { reason: error.message });
    return;
  }
  draw();
}

// drawing

function draw() {
  if (!model.info) return;
  drawTable(model);
  drawHand(model, $("analysis-on").checked ? opinion : null, play);
  drawLastTrick(model);
  const waiting = model.info.phase === "waiting";
  const open = model.info.seats.some((seat) => seat.kind === "free");
  $("invite").hidden = !(waiting && open);
  $("invite-link").value = `${location.origin}/#join=${model.table}`;
  const asked = model.info.seats[model.seat].ready || model.end !== null; // the summary asks too
  $("ready").hidden = !waiting || asked;
  $("analysis-toggle").hidden = !model.info.analysis;
  $("analysis").hidden = !(model.info.analysis && $("analysis-on").checked);
  if (opinion) showOpinion($("analysis"), opinion, seatNames(model));
  else if (!model.turn) replace($("analysis"));
}

function showSummary() {
  names = model.info.seats.map((seat, i) => seat.name ?? t("seat", { seat: i + 1 }));
  const { scores, totals } = model.end;
  const [first, second] = teams(scores);
  const margin = model.seat % 2 === 0 ? first - second : second - first;
  const verdict = margin === 0 ? "drawn" : margin > 0 ? "won" : "lost";
  const table = make("table", {}, ...scoreRows(seatNames(model), scores, totals, false));
  const last = model.end.last_trick.cards.map((card) => make("figure", {}, picture(card)));
  replace($("summary-body"), make("p", { textContent: t(verdict, { n: Math.abs(margin) }) }), table,
    make("h3", { textContent: t("lastTrick") }), make("div", { className: "mini" }, ...last));
  $("download-game").href = `/api/games/${model.end.game}`;
  show("game", "summary");
  $("summary").focus();
}

function showReplay() {
  show("replay");
  replay.openReplay(model.end, names, model.seat);
}

function useLanguage(language) {
  setLanguage(language);
  keep(localStorage, LANGUAGE_KEY, language);
  document.documentElement.lang = language === "zh" ? "zh-Hans" : "en";
  document.title = t("title");
  $("language").textContent = language === "zh" ? "English" : "中文";
  $("language").lang = language === "zh" ? "en" : "zh";
  translate(document);
  if (!$("lobby").hidden) showLobby();
  if (!$("summary").hidden) showSummary();
  if (!$("replay").hidden) replay.draw();
  if (!$("standings").hidden) drawStandings();
  draw();
}

function toggleLastTrick() {
  const open = $("last-trick").hidden;
  $("last-trick").hidden = !open;
  $("last-trick-button").setAttribute("aria-expanded", String(open));
}

function backFromStandings() {
  if (model.table) show("game", model.end ? "summary" : "");
  else showLobby();
}

$("new-table").addEventListener("submit", createTable);
$("home").addEventListener("click", (event) => { event.preventDefault(); backFromStandings(); });
$("hand").addEventListener("keydown", walkHand);
$("ready").addEventListener("click", ready);
$("next-game").addEventListener("click", ready);
$("leave").addEventListener("click", leave);
$("last-trick-button").addEventListener("click", toggleLastTrick);
$("analysis-on").addEventListener("change", () => { draw(); analyse(); });
$("watch-replay").addEventListener("click", showReplay);
$("replay-first").addEventListener("click", () => replay.goTo(0));
$("replay-back").addEventListener("click", () => replay.goBy(-1));
$("replay-on").addEventListener("click", () => replay.goBy(1));
$("replay-last").addEventListener("click", replay.goToEnd);
$("replay-stage").addEventListener("input", (event) => replay.goTo(Number(event.target.value)));
$("replay-close").addEventListener("click", () => show("game", "summary"));
$("standings-button").addEventListener("click", () => { show("standings"); drawStandings(); });
$("standings-close").addEventListener("click", backFromStandings);
$("language").addEventListener("click",
  () => useLanguage(currentLanguage() === "zh" ? "en" : "zh"));
setInterval(() => drawClock(model, now()), 250);

useLanguage(kept(localStorage, LANGUAGE_KEY) ??
  (navigator.language.startsWith("zh") ? "zh" : "en"));
connect(guestName());
