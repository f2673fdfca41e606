"""UCB1 tree search with open hands, one node object per position."""

from __future__ import annotations

import math
from collections.abc import Callable

from tests.oracle.rules import Game

ValueFn = Callable[[Game], float]


class Node:
    """A position, with the number and the sum of the values seen in it and below it.

    Values are the margin of team 0+2 throughout; who is to move only matters for the choice.
    """

    def __init__(self, game: Game) -> None:
        self.game = game
        self.visits = 0
        self.total = 0.0
        self.children: dict[int, Node] = {}

    def mean(self, seat: int) -> float:
        """The mean margin for a seat's team."""
        sign = 1.0 if seat % 2 == 0 else -1.0
        return sign * self.total / self.visits

    def unvisited(self) -> int | None:
        """The first legal card, in card order, without a child."""
        return next((card for card in self.game.legal() if card not in self.children), None)

    def add(self, card: int) -> Node:
        game = self.game.copy()
        game.play(card)
        self.children[card] = Node(game)
        return self.children[card]

    def select(self, c: float, factor: float) -> Node:
        """The child with the best upper bound for the player to move; the lowest card on a tie."""
        seat = self.game.player_to_move()
        log_n = factor * math.log(self.visits)

        def bound(child: Node) -> float:
            return child.mean(seat) + c * math.sqrt(log_n / child.visits)

        return max((self.children[card] for card in sorted(self.children)), key=bound)


def leaf_value(game: Game, value_fn: ValueFn) -> float:
    """Margin of team 0+2: exact at the end, else what stands now plus what is to come."""
    if game.is_terminal():
        return float(game.margin(0))
    seat = game.player_to_move()
    value = game.margin(seat) + value_fn(game)
    return value if seat % 2 == 0 else -value


def search_tree(
    game: Game, value_fn: ValueFn, budget: int, c: float = 30.0, factor: float = 1.0
) -> Node:
    """Grow a tree by `budget` visits and return its root.

    The root is not evaluated, so its visits are the sum over its children. Every other node was
    evaluated once when it was added, so its visits are one more than its children's sum.
    """
    root = Node(game.copy())
    for _ in range(budget):
        path = [root]
        while not path[-1].game.is_terminal():
            card = path[-1].unvisited()
            if card is not None:
                path.append(path[-1].add(card))
                break
            path.append(path[-1].select(c, factor))
        value = leaf_value(path[-1].game, value_fn)
        for node in path:
            node.visits += 1
            node.total += value
    return root


def search(
    game: Game, value_fn: ValueFn, budget: int, c: float = 30.0, factor: float = 1.0
) -> tuple[dict[int, int], dict[int, float]]:
    """Visits and mean margin, for the mover's team, of every legal card (0.0 if not visited)."""
    root = search_tree(game, value_fn, budget, c, factor)
    seat = game.player_to_move()
    visits = dict.fromkeys(game.legal(), 0)
    mean = dict.fromkeys(visits, 0.0)
    for card, child in root.children.items():
        visits[card] = child.visits
        mean[card] = child.mean(seat)
    return visits, mean
