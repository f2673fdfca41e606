// Cards as data and as pictures. The faces are drawn here, from a few paths.

export const RANKS = ["2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K", "A"];
export const SUITS = ["S", "H", "D", "C"];
export const GLYPHS = { S: "♠", H: "♥", D: "♦", C: "♣" };

export const suitOf = (card) => card[0];
export const rankOf = (card) => card.slice(1);
export const isRed = (card) => suitOf(card) === "H" || suitOf(card) === "D";
export const isPointCard = (card) =>
  suitOf(card) === "H" || card === "SQ" || card === "DJ" || card === "C10";
export const shortName = (card) => GLYPHS[suitOf(card)] + rankOf(card);

// In the hand red and black suits alternate, so that neighbours are told apart.
const HAND_ORDER = ["S", "H", "C", "D"];
export function sortHand(cards) {
  const place = (card) => HAND_ORDER.indexOf(suitOf(card)) * 13 - RANKS.indexOf(rankOf(card));
  return [...cards].sort((a, b) => place(a) - place(b));
}

// Each in a square of 32.
const PATHS = {
  S: "M16 2C24 10 31 14.500 31 21a7 7 0 0 1-12.800 3.900c.5 3 1.800 4.500 4.300 5.600H9.500c2.500-1.100 3.800-2.600 4.300-5.600A7 7 0 0 1 1 21C1 14.500 8 10 16 2Z",
  H: "M16 30C6 22 1 16 1 9.500A7.500 7.500 0 0 1 16 7a7.500 7.500 0 0 1 15 2.500C31 16 26 22 16 30Z",
  D: "M16 1C19 7 23 12 28 16c-5 4-9 9-12 15C13 25 9 20 4 16 9 12 13 7 16 1Z",
  C: "M16 1.500a7 7 0 0 1 5.700 11.100A7 7 0 1 1 18.400 24.600c.4 3.200 1.700 4.800 4.100 5.900H9.500c2.400-1.100 3.700-2.700 4.100-5.900A7 7 0 1 1 10.300 12.600 7 7 0 0 1 16 1.500Z",
};

const [LEFT, MIDDLE, RIGHT] = [35, 50, 65];
const PIPS = {
  2: [[MIDDLE, 32], [MIDDLE, 108]],
  3: [[MIDDLE, 32], [MIDDLE, 70], [MIDDLE, 108]],
  4: [[LEFT, 32], [RIGHT, 32], [LEFT, 108], [RIGHT, 108]],
  5: [[LEFT, 32], [RIGHT, 32], [MIDDLE, 70], [LEFT, 108], [RIGHT, 108]],
  6: [[LEFT, 32], [RIGHT, 32], [LEFT, 70], [RIGHT, 70], [LEFT, 108], [RIGHT, 108]],
  7: [[LEFT, 32], [RIGHT, 32], [MIDDLE, 51], [LEFT, 70], [RIGHT, 70], [LEFT, 108], [RIGHT, 108]],
  8: [[LEFT, 32], [RIGHT, 32], [MIDDLE, 51], [LEFT, 70], [RIGHT, 70], [MIDDLE, 89], [LEFT, 108],
    [RIGHT, 108]],
  9: [[LEFT, 30], [RIGHT, 30], [LEFT, 56], [RIGHT, 56], [MIDDLE, 70], [LEFT, 84], [RIGHT, 84],
    [LEFT, 110], [RIGHT, 110]],
  10: [[LEFT, 30], [RIGHT, 30], [MIDDLE, 43], [LEFT, 56], [RIGHT, 56], [LEFT, 84], [RIGHT, 84],
    [MIDDLE, 97], [LEFT, 110], [RIGHT, 110]],
  A: [[MIDDLE, 70]],
};
const CROWNS = {
  J: "M30 62h40v-6H30zM34 53l6-14 10 8 10-8 6 14z",
  Q: "M28 62h44v-6H28zM30 53l-3-16 11 8 12-12 12 12 11-8-3 16z",
  K: "M28 62h44v-6H28zM30 53l-4-20 13 10 7-12V26h-4v-4h4v-4h8v4h4v4h-4v5l7 12 13-10-4 20z",
};

function pip(suit, x, y, size) {
  const turned = y > 70 ? ` rotate(180 16 16)` : "";
  const at = `translate(${x - size / 2} ${y - size / 2}) scale(${size / 32})`;
  return `<path transform="${at}${turned}" d="${PATHS[suit]}"/>`;
}

function corner(card) {
  const rank = rankOf(card);
  const squeeze = rank === "10" ? ' textLength="17" lengthAdjust="spacingAndGlyphs"' : "";
  return `<text x="13" y="21" font-size="20" font-weight="700" text-anchor="middle"${squeeze}>` +
    `${rank}</text>` + pip(suitOf(card), 13, 32, 13);
}

function middle(card) {
  const [suit, rank] = [suitOf(card), rankOf(card)];
  if (!CROWNS[rank]) {
    const size = rank === "A" ? 44 : 19;
    return PIPS[rank].map(([x, y]) => pip(suit, x, y, size)).join("");
  }
  return `<rect x="24" y="14" width="52" height="112" rx="5" fill="currentColor" opacity=".08"/>` +
    `<path d="${CROWNS[rank]}" opacity=".85"/>` +
    `<text x="50" y="105" font-size="42" font-weight="700" text-anchor="middle">${rank}</text>` +
    `<path transform="translate(41 108) scale(.56)" d="${PATHS[suit]}"/>`;
}

/** The picture of a card, as SVG text made of nothing but constants. */
export function cardSvg(card) {
  const colour = isRed(card) ? "#c1121f" : "#1c2420";
  const mark = isPointCard(card)
    ? '<circle cx="88" cy="12" r="6" fill="#f2c14e" stroke="#8a6d1d" stroke-width="1"/>' : "";
  return `<svg class="card" viewBox="0 0 100 140" aria-hidden="true" focusable="false" ` +
    `fill="${colour}" color="${colour}" font-family="Georgia, 'DejaVu Serif', serif">` +
    '<rect x="1" y="1" width="98" height="138" rx="9" fill="#fffdf7" stroke="#8a988f"/>' +
    corner(card) + `<g transform="rotate(180 50 70)">${corner(card)}</g>` +
    middle(card) + mark + "</svg>";
}
