// What the page knows of its table, from the messages alone. No document, no clock.

import { isPointCard, RANKS, rankOf, suitOf, SUITS } from "./cards.js";

export function newModel() {
  return { table: null, seat: null, token: null, invitation: null, info: null, view: null,
    turn: false, deadline: null, end: null, lastBy: null, showing: null };
}

/** The place of a seat as I see the table: 0 is me, 1 on my left, 2 opposite, 3 on my right. */
export const placeOf = (seat, mine) => (seat - mine + 4) % 4;

/** The team of a seat as I see it. */
export const isMyTeam = (seat, mine) => (seat - mine) % 2 === 0;

/** Changes the model by a message; `now`, in seconds, is when its player can see it: the clock
 * of a move starts there. */
export function update(model, message, now) {
  const change = CHANGES.get(message.type);
  if (change && (message.table === model.table || message.type === "seated")) {
    change(model, message, now);
  }
}

/** After a while the full trick goes from the table. */
export function clearTrick(model) {
  model.showing = null;
}

export const canPlay = (model, card) => model.turn && model.view.legal.includes(card);

/** My card is on the table before the server says so; a refusal brings the next view. */
export function playOwn(model) {
  model.turn = false;
  model.deadline = null;
}

const CHANGES = new Map(Object.entries({
  seated(model, message) {
    Object.assign(model, newModel(),
      { table: message.table, seat: message.seat, token: message.token,
        invitation: message.invitation ?? null });
  },
  table(model, message) {
    model.info = message;
  },
  view(model, message) {
    setView(model, message);
    model.turn = false;
    model.deadline = null;
  },
  turn(model, message, now) {
    setView(model, message);
    model.turn = true;
    model.deadline = message.seconds === null ? null : now + message.seconds;
  },
  played(model, message) {
    const view = model.view;
    if (!view || message.stage !== view.stage) return;
    view.stage += 1;
    view.plays.push(message.card);
    view.hand = view.hand.filter((card) => card !== message.card);
    view.trick.cards.push(message.card);
    view.legal = [];
    view.to_move = view.stage === 52 ? null : (message.seat + 1) % 4;
    model.turn = false;
    model.deadline = null;
    model.showing = null;
    model.lastBy = message.by;
  },
  trick_end(model, message) {
    const view = model.view;
    if (!view) return;
    view.last_trick = message.trick;
    view.scores = message.scores;
    view.taken[message.trick.winner].push(...message.trick.cards.filter(isPointCard));
    view.trick = { leader: message.trick.winner, cards: [] };
    view.to_move = view.stage === 52 ? null : message.trick.winner;
    model.showing = message.trick;
  },
  game_end(model, message) {
    model.end = message;
    model.turn = false;
    model.deadline = null;
  },
}));

function setView(model, message) {
  // A turn that only repeats what was played must not take the last trick from the table.
  if (!model.view || model.view.stage !== message.view.stage) model.showing = null;
  model.view = structuredClone(message.view);
  model.end = null;
}

/** Points of both teams, seats 0 and 2 first. */
export const teams = (points) => [points[0] + points[2], points[1] + points[3]];

/** The tricks of a game, the last one perhaps not full, from the leader and the cards. */
export function tricksOf(plays, leader) {
  const tricks = [];
  let lead = leader;
  for (let start = 0; start < plays.length; start += 4) {
    const cards = plays.slice(start, start + 4);
    let best = 0;
    cards.forEach((card, i) => {
      const follows = suitOf(card) === suitOf(cards[0]);
      if (follows && RANKS.indexOf(rankOf(card)) > RANKS.indexOf(rankOf(cards[best]))) best = i;
    });
    const winner = (lead + best) % 4;
    tricks.push(cards.length === 4 ? { leader: lead, cards, winner } : { leader: lead, cards });
    lead = winner;
  }
  return tricks;
}

/** The seats of all plays of a game. */
export const seatsOfPlays = (plays, leader) => tricksOf(plays, leader).flatMap((trick) =>
  trick.cards.map((_, i) => (trick.leader + i) % 4));

/** Point cards that each seat has taken in the tricks that are full. */
export function takenIn(tricks) {
  const taken = [[], [], [], []];
  for (const { cards, winner } of tricks) {
    if (winner !== undefined) taken[winner].push(...cards.filter(isPointCard));
  }
  return taken;
}

/** Points of my team minus those of the other one. */
export function marginOf(points, mine) {
  const [first, second] = teams(points);
  return mine % 2 === 0 ? first - second : second - first;
}

/** The four hands of a record, whose `deal` has the owner of each card. */
export function handsOf(deal) {
  const hands = [[], [], [], []];
  deal.forEach((seat, card) => hands[seat].push(SUITS[Math.floor(card / 13)] + RANKS[card % 13]));
  return hands;
}
