// The page: connects, and shows what the address says.

import { $, announce, clearOldNotice, complain, drawNotice, notice, translate } from "./dom.js";
import { drawDaily, drawDailyBox, openDaily, openDailyBox } from "./daily.js";
import { closeFinished, drawFinished, openFinished, startFinished } from "./finished.js";
import * as game from "./game.js";
import { currentLanguage, errorText, setLanguage, t } from "./i18n.js";
import { drawForm, drawTables, readForm } from "./lobby.js";
import { startReplay } from "./replay.js";
import { go, isAt, place, tableOf } from "./router.js";
import { drawRules, openRules, startRules } from "./rules.js";
import { connect, getJson, rename, tell, welcome } from "./server.js";
import { drawStandings, openStandings } from "./standings.js";
import { drop, keep, kept } from "./storage.js";
import { closeWatch, drawWatch, openWatch, receiveWatched } from "./watch.js";
import { walkHand } from "./table.js";

const SECTIONS = ["lobby", "game", "finished", "daily", "watch", "standings"];
let tables = null; // the last list of tables
let routed = false; // whether the address of the page was looked at

// pages

function show(id) {
  if ($(id).hidden) scrollTo(0, 0);
  for (const section of SECTIONS) $(section).hidden = section !== id;
  if (id !== "finished") closeFinished();
  if (id !== "watch") closeWatch();
  if (welcome()) tell("lobby", { on: id === "lobby" });
  game.drawReturn();
}

async function route() {
  const { page, value } = place();
  routed = true;
  if (page === "rules") {
    if (SECTIONS.every((section) => $(section).hidden)) showLobby();
    await openRules();
    return;
  }
  if ($("rules").open) $("rules").close();
  if (page === "join") await join(value);
  else if (page === "play" && game.isSeated()) showGame();
  else if (page === "game") await showFinished(value);
  else if (page === "watch") {
    show("watch");
    await openWatch(value);
  } else if (page === "daily") {
    show("daily");
    await openDaily(value, playDaily);
  } else if (page === "standings") {
    show("standings");
    await openStandings();
  } else showLobby();
}

function showLobby() {
  show("lobby");
  if (!welcome()) return;
  drawLobby();
  openDailyBox(playDaily);
}

function drawLobby() {
  if (!welcome()) return;
  drawForm(welcome(), kept("form") ?? {});
  drawTables(tables, sit);
}

function showGame() {
  show("game");
  game.draw();
}

async function showFinished(value) {
  if (await openFinished(value)) {
    show("finished");
    $("finished").focus();
  } else {
    showLobby();
  }
}

// what people do

/** The first free seat of a table that somebody sent a link to. */
async function join(value) {
  const { table, invitation } = tableOf(value);
  if (game.isSeated() && !await game.leave()) {
    go("#play");
    return;
  }
  showLobby();
  try {
    const found = await getJson(`api/tables/${encodeURIComponent(table)}`, { invitation });
    const seat = found.seats.findIndex((one) => one.kind === "free");
    if (seat < 0) {
      go(found.phase === "playing" ? `#watch=${value}` : "#");
      notice(() => t("error.taken"));
    } else {
      await sit(table, seat, invitation);
    }
  } catch (error) {
    go("#");
    complain(error);
  }
}

async function createTable(event) {
  event.preventDefault();
  const form = readForm();
  keep("form", form);
  const { others, ...fields } = form;
  $("analysis-on").checked = fields.analysis;
  await withName(() => game.sitDown("create", fields));
}

const sit = (table, seat, invitation = null) => withName(() =>
  game.sitDown("sit", { table, seat, ...(invitation === null ? {} : { invitation }) }));

const playDaily = () => withName(() => game.sitDown("daily", {}));

/** Sits down under the name in the form. */
async function withName(work) {
  if (game.isSeated() && !await game.leave()) return;
  const name = $("name").value.trim();
  try {
    if (name && name !== welcome().name) {
      await rename(name);
      keep("name", name);
    }
    notice(null);
    await work();
  } catch (error) {
    complain(error);
    if (isAt("play")) go("#");
  }
}

// the connection

const guestName = () => t("guest", { n: Math.floor(1000 + 9000 * Math.random()) });

/** Somebody without a name of their own is a guest in the language of the page. */
function translateGuest() {
  const number = /^\D+ (\d{4})$/.exec(welcome()?.name ?? "")?.[1];
  if (!number || kept("name") || game.isSeated()) return;
  rename(t("guest", { n: number })).catch(complain);
}

async function welcomed(greeting) {
  notice(null);
  $("name").value = greeting.name;
  const fresh = !routed && ["", "play"].includes(place().page);
  const back = await game.comeBack(fresh);
  if (back && fresh) {
    routed = true;
    go("#play");
  } else if (!routed || (!back && !isAt("join"))) await route();
}

function received(message) {
  if (message.type === "tables") {
    tables = message;
    if (!$("lobby").hidden) drawTables(tables, sit);
  } else if (message.type === "watched" || message.type === "unwatched") {
    receiveWatched(message);
  } else if (message.type === "closing") {
    notice(() => t("closing"));
  } else if (message.type === "error") {
    complain(message);
  } else {
    game.receive(message);
  }
}

/** A name that the server does not take is given up; somebody nameless can play at once. */
function otherName(error) {
  drop("name");
  const name = guestName();
  setTimeout(() => notice(() => t("nameTaken", { reason: errorText(error), name })), 1000);
  return name;
}

// language

function useLanguage(language) {
  setLanguage(language);
  keep("language", language);
  document.documentElement.lang = language === "zh" ? "zh-Hans" : "en";
  document.title = t("title");
  $("language").textContent = language === "zh" ? "English" : "中文";
  $("language").lang = language === "zh" ? "en" : "zh";
  translate(document);
  drawNotice();
  announce("");
  translateGuest();
  if (!$("lobby").hidden) {
    drawLobby();
    drawDailyBox();
  }
  if (!$("finished").hidden) drawFinished();
  if (!$("daily").hidden) drawDaily();
  if (!$("watch").hidden) drawWatch();
  if (!$("standings").hidden) drawStandings();
  drawRules();
  game.draw();
}

$("new-table").addEventListener("submit", createTable);
$("hand").addEventListener("keydown", walkHand);
$("language").addEventListener("click",
  () => useLanguage(currentLanguage() === "zh" ? "en" : "zh"));
addEventListener("hashchange", () => {
  if (!isAt("rules")) clearOldNotice();
  if (welcome()) route();
});
game.startGame();
startFinished();
startReplay();
startRules();
useLanguage(kept("language") ?? (navigator.language.startsWith("zh") ? "zh" : "en"));
connect(kept("name") ?? guestName(), {
  onMessage: received,
  onWelcome: welcomed,
  onLost: () => notice(() => t("connectionLost")),
  onRefused: complain,
  otherName,
});
