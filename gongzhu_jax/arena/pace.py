"""How long a move of our players takes: it must not tell whether there was a choice."""

import random
from collections import defaultdict, deque

_REMEMBERED = 64  # moves


class Pace:
    """Every move takes a random time of at least `least` to `most` seconds. A move that was thought
    about for longer takes as long as that; a forced one as long as a recent one that was not, drawn
    at random, so that both have the same distribution also when the server is busy."""

    def __init__(self, least: float, most: float) -> None:
        self._least, self._most = least, most
        self._random = random.SystemRandom()
        self._thoughts: defaultdict[str, deque[float]] = defaultdict(
            lambda: deque(maxlen=_REMEMBERED)
        )

    def seconds(self, player: str, thought: float | None) -> float:
        """How long the move should take in all; `thought` is None if there was no choice."""
        recent = self._thoughts[player]
        if thought is None:
            thought = self._random.choice(recent) if recent else 0.0
        else:
            recent.append(thought)
        return max(thought, self._random.uniform(self._least, self._most))
