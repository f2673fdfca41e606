// The language of the page. Names of people come here too, so nothing is looked up in plain objects.

import EN from "./texts_en.js";
import ZH from "./texts_zh.js";

export const TEXTS = new Map([["en", EN], ["zh", ZH]]);
let language = "en";

export const currentLanguage = () => language;

export function setLanguage(chosen) {
  language = TEXTS.has(chosen) ? chosen : "en";
}

export const has = (key) => TEXTS.get(language).has(key);

export function t(key, values = {}) {
  const text = TEXTS.get(language).get(key) ?? EN.get(key) ?? String(key);
  const known = new Map(Object.entries(values));
  return text.replace(/\{(\w+)\}/g, (_, name) => String(known.get(name) ?? ""));
}

/** The name of a card in words, for those who hear the page. */
export function spokenCard(card) {
  const rank = card.slice(1);
  const word = has(`rank${rank}`) ? t(`rank${rank}`) : rank;
  return t("cardName", { rank: word, suit: t(`suit${card[0]}`) });
}

const PLAYERS = new Map([["random", "playerRandom"], ["if", "playerIf"], ["greed", "playerGreed"],
  ["scrofa", "playerScrofa"], ["scrofa-strong", "playerStrong"],
  ["scrofa-simple", "playerSimple"], ["raw", "playerRaw"], ["policy", "playerPolicy"],
  ["distilled", "playerDistilled"],
  ["openspiel-ismcts", "playerIsmcts"]]);

export const isOwnPlayer = (name) => PLAYERS.has(name);

/** The name of a player of ours; names of clients stay as they are. */
export const playerName = (name) => (PLAYERS.has(name) ? t(PLAYERS.get(name)) : name);

export const seatName = (seat) => t(`seat${seat}`);

/** Where somebody sits and who it is. */
export const seatAndName = (seat, name) =>
  (name === null ? seatName(seat) : `${seatName(seat)} · ${playerName(name)}`);

const REASONS = new Map([["everybody has left", "reasonLeft"], ["everybody has gone", "reasonGone"],
  ["nothing happened for too long", "reasonIdle"], ["all games are played", "reasonDone"],
  ["the game could not be stored", "reasonStore"]]);

/** Why a table was closed; the server says it in English. */
export const reasonText = (reason) => (REASONS.has(reason) ? t(REASONS.get(reason)) : reason);

export const errorText = (error) =>
  (has(`error.${error.code}`) ? t(`error.${error.code}`) : error.message);
