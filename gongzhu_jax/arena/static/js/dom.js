// Small helpers for the document. Texts of others only ever become text nodes.

import { cardSvg, isRed, shortName } from "./cards.js";
import { spokenCard, t } from "./i18n.js";

export const $ = (id) => document.getElementById(id);

/** An element with properties and children, which are elements or texts. */
export function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children.filter((child) => child !== null));
  return element;
}

export function picture(card) {
  const element = make("span", { innerHTML: cardSvg(card) });
  element.setAttribute("role", "img");
  element.setAttribute("aria-label", spokenCard(card));
  return element;
}

export const chip = (card) =>
  make("span", { className: isRed(card) ? "chip red" : "chip", textContent: shortName(card),
    title: spokenCard(card) });

export function replace(element, ...children) {
  element.replaceChildren(...children.filter((child) => child !== null));
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
