"""The 434 network inputs in plain Python.

Layout: 4 x 52 hands, 3 x 54 cards on the table (latest first), 4 x 16 point cards taken. Seats are
relative to the player to move: me, next, partner, previous.
"""

from __future__ import annotations

from tests.oracle.rules import POINT_CARDS, Game

SLOT = 54
TRICK = 4 * 52
POINTS = TRICK + 3 * SLOT
SIZE = POINTS + 4 * 16


def _public(game: Game) -> list[float]:
    """What everybody sees; the hands are left empty."""
    x = [0.0] * SIZE
    for j, (_, card) in enumerate(reversed(game.trick)):
        for cell in (card, card + 1, card + 2):  # diffuse
            x[TRICK + SLOT * j + cell] = 1.0
    me = game.player_to_move()
    for r in range(4):
        for i, card in enumerate(POINT_CARDS):
            if card in game.taken[(me + r) % 4]:
                x[POINTS + 16 * r + i] = 1.0
    return x


def perfect(game: Game) -> list[float]:
    """All four hands as they are."""
    x = _public(game)
    me = game.player_to_move()
    for r in range(4):
        for card in game.hand((me + r) % 4):
            x[52 * r + card] = 1.0
    return x


def averaged(game: Game) -> list[float]:
    """Only the mover's own hand; any other unplayed card is 1/3 at each of the other seats.

    The mover's view ignores shown voids, as the paper's averaged input does.
    """
    x = _public(game)
    me = game.player_to_move()
    for card in game.hand(me):
        x[card] = 1.0
    for r in (1, 2, 3):
        for card in game.hand((me + r) % 4):
            for cell in (52 + card, 104 + card, 156 + card):
                x[cell] = 1.0 / 3.0
    return x


def to_reference(x: list[float]) -> list[float]:
    """The same input in the original's layout: hands, points, table.

    Its diffuse block lies one cell earlier, so a slot may reach back into the slot before it. The
    first slot cannot: there S2, the only card to light our cell 0, lights nothing at all.
    """
    table = x[TRICK:POINTS]
    if table[0]:
        table[0:3] = [0.0] * 3
    return x[:TRICK] + x[POINTS:] + table[1:] + [0.0]
