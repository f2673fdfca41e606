// What the browser remembers. A tab has its own seat, so that two tabs can be two people; seats are
// also kept for all tabs, so that one that was closed can be taken up again.

const SEATS = "gongzhu.seats";
const TAB = "gongzhu.tab";
const GAMES = "gongzhu.games";
const MOST = 50;

function read(store, key) {
  try {
    return JSON.parse(store.getItem(key) ?? "null");
  } catch {
    return null;
  }
}
const write = (store, key, value) => store.setItem(key, JSON.stringify(value));

export const kept = (key) => read(localStorage, `gongzhu.${key}`);
export const keep = (key, value) => write(localStorage, `gongzhu.${key}`, value);
export const drop = (key) => localStorage.removeItem(`gongzhu.${key}`);

const list = (key) => {
  const found = read(localStorage, key);
  return Array.isArray(found) ? found : [];
};
const same = (one, other) => one.table === other.table && one.seat === other.seat;

export const seatOfTab = () => read(sessionStorage, TAB);
export const keptSeats = () => list(SEATS);

export function keepSeat(seat) {
  write(sessionStorage, TAB, seat);
  const others = keptSeats().filter((other) => !same(other, seat));
  write(localStorage, SEATS, [seat, ...others].slice(0, MOST));
}

export function dropSeat(seat) {
  const mine = seatOfTab();
  if (mine && same(mine, seat)) sessionStorage.removeItem(TAB);
  write(localStorage, SEATS, keptSeats().filter((other) => !same(other, seat)));
}

/** This tab gives its seat to another one. */
export const dropTab = () => sessionStorage.removeItem(TAB);

/** Where I sat in a game that is over; the token shows a game of today's deal. */
export const myGame = (id) => list(GAMES).find((game) => game.id === id) ?? null;

export function keepGame(id, seat, token) {
  const others = list(GAMES).filter((game) => game.id !== id);
  write(localStorage, GAMES, [{ id, seat, token }, ...others].slice(0, MOST));
}
