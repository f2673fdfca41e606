"""A game in the terminal against our players, with what one of them thinks on request."""

import argparse
import sys
from collections.abc import Callable, Sequence

import jax
import numpy as np

from gongzhu_jax import players
from gongzhu_jax.console.analyse import describe
from gongzhu_jax.console.cards_text import draw, show
from gongzhu_jax.errors import CardError, PlayerError
from gongzhu_jax.evaluation.deals import check_seed
from gongzhu_jax.game.cards import CARD_NAMES, NUM_CARDS, NUM_SEATS, card_id
from gongzhu_jax.game.host_game import HostGame
from gongzhu_jax.players.protocol import Player

HELP = """\
a card: its name, such as sq or h10     ?: what the adviser thinks
t: the tricks so far                    q: leaves the game"""


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="gongzhu play", description=__doc__)
    parser.add_argument("--opponents", default="scrofa", help="player at both seats beside you")
    parser.add_argument("--partner", default="scrofa", help="player opposite you")
    parser.add_argument("--adviser", default="scrofa-strong", help="who answers ?")
    parser.add_argument("--seed", type=int, help="of the deal; the same seed is the same game")
    parser.add_argument("--games", type=int, help="how many; until you leave, if not said")
    parser.add_argument("--color", choices=("auto", "yes", "no"), default="auto")
    chosen = parser.parse_args(arguments)
    seed = int(np.random.default_rng().integers(2**31)) if chosen.seed is None else chosen.seed
    check_seed(seed)
    color = sys.stdout.isatty() if chosen.color == "auto" else chosen.color == "yes"
    beside, opposite = players.make(chosen.opponents), players.make(chosen.partner)
    table = ConsoleTable([beside, opposite, beside], lambda: players.make(chosen.adviser), color)
    played = 0
    while chosen.games is None or played < chosen.games:
        print(f"game {played + 1}, seed {seed}. You are seat 0, seat 2 is your partner.")
        if not table.play(seed):
            break
        played += 1
        seed = (seed + 1) % 2**32
    print(f"points of all games, seats 0 to 3: {' '.join(map(str, table.totals))}")
    return 0


class Left(Exception):  # noqa: N818
    """The person at the terminal has had enough."""


class ConsoleTable:
    """A person at seat 0 and three players, for some games."""

    def __init__(
        self, others: Sequence[Player], make_adviser: Callable[[], Player], color: bool
    ) -> None:
        self.others, self.color = others, color
        self.totals = [0] * NUM_SEATS
        self._make_adviser = make_adviser
        self._adviser: Player | None = None

    def play(self, seed: int) -> bool:
        """One game; False if it was left before its end."""
        rng = np.random.default_rng(seed)
        owners = rng.permutation(np.repeat(np.arange(NUM_SEATS), NUM_CARDS // NUM_SEATS))
        game = HostGame.from_owners(owners.tolist(), int(rng.integers(NUM_SEATS)))
        key = jax.random.key(seed)
        try:
            while not game.is_over:
                self._play_card(game, jax.random.fold_in(key, len(game.plays)))
        except Left:
            return False
        points = game.scores()
        self.totals = [total + more for total, more in zip(self.totals, points, strict=True)]
        print(f"\npoints: {' '.join(map(str, points))}; ", end="")
        print(f"your team {points[0] + points[2]}, the others {points[1] + points[3]}\n")
        return True

    def _play_card(self, game: HostGame, key: jax.Array) -> None:
        if not game.trick:
            points = " ".join(map(str, game.scores()))
            number = len(game.plays) // NUM_SEATS + 1
            print(f"\ntrick {number}   points so far: {points} (you, then seats 1 to 3)")
        seat = game.mover
        if seat == 0:
            card = self._ask(game, key)
        elif len(game.legal()) == 1:
            card = game.legal()[0]
        else:
            card = card_id(self.others[seat - 1].play(game.view(seat), key))
        name = "you" if seat == 0 else f"seat {seat} ({self.others[seat - 1].name})"
        print(f"  {name}: {show(CARD_NAMES[card], self.color)}", flush=True)
        game.play(card)
        if not game.trick:
            winner = game.leaders[-1]
            print(f"  seat {winner} takes the trick" if winner else "  you take the trick")

    def _ask(self, game: HostGame, key: jax.Array) -> int:
        legal = [CARD_NAMES[card] for card in game.legal()]
        print(draw([CARD_NAMES[card] for card in game.hands[0]], self.color))
        while True:
            shown = " ".join(show(card, self.color) for card in legal)
            try:
                said = input(f"your card ({shown}; h for help): ").strip()
            except EOFError:
                print()
                raise Left from None
            match said.lower():
                case "q":
                    raise Left
                case "h" | "":
                    print(HELP)
                case "?":
                    print(self._advice(game, key))
                case "t":
                    print(tricks(game))
                case _:
                    try:
                        card = card_id(said)
                    except CardError as error:
                        print(error)
                        continue
                    if card in game.legal():
                        return card
                    print(f"{CARD_NAMES[card]} may not be played now")

    def _advice(self, game: HostGame, key: jax.Array) -> str:
        if self._adviser is None:
            self._adviser = self._make_adviser()
        try:
            return describe(players.explain(self._adviser, game.view(game.mover), key))
        except PlayerError as error:
            return str(error)


def tricks(game: HostGame) -> str:
    """The tricks so far, one a line."""
    lines = []
    for number, leader in enumerate(game.leaders):
        cards = game.plays[NUM_SEATS * number : NUM_SEATS * (number + 1)]
        if cards:
            names = " ".join(show(CARD_NAMES[card]) for card in cards)
            lines.append(f"  {number + 1:2d}  led by seat {leader}: {names}")
    return "\n".join(lines) or "  no card has been played"
