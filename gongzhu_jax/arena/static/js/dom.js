// Small helpers for the document. Texts of others only ever become text nodes.

import { cardSvg, isRed, shortName } from "./cards.js";
import { errorText, spokenCard, t } from "./i18n.js";

export const $ = (id) => document.getElementById(id);

/** An element with properties and children, which are elements or texts. */
export function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children.filter((child) => child !== null));
  return element;
}

export function button(text, onClick, properties = {}) {
  const element = make("button", { type: "button", textContent: text, ...properties });
  element.addEventListener("click", onClick);
  return element;
}

export const link = (text, href, className = "button") =>
  make("a", { textContent: text, href, className });

export function picture(card, label = spokenCard(card)) {
  const element = make("span", { innerHTML: cardSvg(card) });
  element.setAttribute("role", "img");
  element.setAttribute("aria-label", label);
  return element;
}

export const chip = (card) =>
  make("span", { className: isRed(card) ? "chip red" : "chip", textContent: shortName(card),
    title: spokenCard(card) });

export function replace(element, ...children) {
  element.replaceChildren(...children.filter((child) => child !== null));
}

/** A table from its head and rows of cells, which are texts or elements. */
export function tableOf(head, rows, properties = {}) {
  const cell = (tag, content) => make(tag, tag === "th" ? { scope: "col" } : {}, content);
  return make("table", properties,
    make("thead", {}, make("tr", {}, ...head.map((text) => cell("th", text)))),
    make("tbody", {}, ...rows.map((row) => make("tr", {}, ...row.map((item) => cell("td", item))))));
}

/** Puts the texts of the current language into everything that asks for one. */
export function translate(root) {
  for (const element of root.querySelectorAll("[data-text]")) {
    element.textContent = t(element.dataset.text);
  }
  for (const element of root.querySelectorAll("[data-label]")) {
    element.setAttribute("aria-label", t(element.dataset.label));
  }
}

export const signed = (points) => (points > 0 ? `+${points}` : String(points).replace("-", "−"));

let noticeText = null; // makes the text in the language of the moment
let noticed = 0; // when it came
const READING = 1500; // ms

/** Shows a notice; `text` is a function, so that the language can change under it. */
export function notice(text) {
  noticeText = text;
  noticed = performance.now();
  $("notice").hidden = text === null;
  $("notice").textContent = text === null ? "" : text();
}

export const drawNotice = () => notice(noticeText);

/** Takes a notice away that belongs to the page before. */
export function clearOldNotice() {
  if (performance.now() - noticed > READING) notice(null);
}

export const complain = (error) => notice(() => errorText(error));

/** For those who hear the page. */
export function announce(text) {
  $("announce").textContent = text;
}

/** Asks a question; resolves to whether the answer is yes. */
export function confirmed(question, yes, no) {
  const dialog = $("ask");
  $("ask-text").textContent = question;
  $("ask-yes").textContent = yes;
  $("ask-no").textContent = no;
  dialog.returnValue = "no";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true });
  });
}

export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch { // not over plain HTTP from elsewhere
    const area = make("textarea", { value: text, className: "unseen" });
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  notice(() => t("copied"));
}
