"""Games as text, for people and for test failures."""

import numpy as np

from gongzhu_jax.game import env
from gongzhu_jax.game.cards import CARD_NAMES, NO_CARD, NUM_SEATS, RANK_NAMES, SUIT_NAMES
from gongzhu_jax.game.public_view import PublicView
from gongzhu_jax.game.scoring import score_cards


def render_hand(cards: np.ndarray) -> str:
    """Cards by suit, high cards first: "S KQ2  H -  D A10  C 943"."""
    held = set(np.asarray(cards).tolist())
    suits = []
    for suit, name in enumerate(SUIT_NAMES):
        ranks = [RANK_NAMES[card % 13] for card in sorted(held, reverse=True) if card // 13 == suit]
        suits.append(f"{name} {''.join(ranks) or '-'}")
    return "  ".join(suits)


def render(game: env.GameState | PublicView) -> str:
    """The table as text: hands (of a view only its own), tricks, table, points, whose turn."""
    is_view = isinstance(game, PublicView)
    to_move = int(game.to_move) if is_view else int(env.player_to_move(game))
    points = np.asarray(score_cards(game.taken_by))
    lines = []
    for seat in range(NUM_SEATS):
        if not is_view:
            hand = render_hand(np.flatnonzero(np.asarray(game.holder) == seat))
        elif seat == int(game.seat):
            hand = render_hand(np.flatnonzero(np.asarray(game.hand)))
        else:
            hand = f"{int(game.hand_sizes[seat])} cards"
        mark = ">" if seat == to_move and int(game.stage) < 52 else " "
        lines.append(f"{mark}seat {seat} {points[seat]:5d}  {hand}")
    return "\n".join(lines + _render_tricks(game))


def _render_tricks(game: env.GameState | PublicView) -> list[str]:
    plays = [int(card) for card in np.asarray(game.plays) if card != NO_CARD]
    leaders = np.asarray(game.leaders)
    lines = []
    for number in range(0, len(plays), NUM_SEATS):
        cards = plays[number : number + NUM_SEATS]
        text = " ".join(CARD_NAMES[card] for card in cards)
        leader, winner = leaders[number // NUM_SEATS], leaders[number // NUM_SEATS + 1]
        end = f"  won by {winner}" if len(cards) == NUM_SEATS else ""
        lines.append(f"trick {number // NUM_SEATS + 1:2d}  led by {leader}: {text}{end}")
    return lines
