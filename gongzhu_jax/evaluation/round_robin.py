"""Every player against every other on the same deals, and how transitive the results are."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Unpack

import numpy as np

from gongzhu_jax.errors import PlayerError
from gongzhu_jax.evaluation import stats
from gongzhu_jax.evaluation.deals import Deals, random_deals
from gongzhu_jax.evaluation.matches import MatchResult, match_seating
from gongzhu_jax.evaluation.seatings import ProgressFn, SeatingOptions
from gongzhu_jax.players.protocol import Player


@dataclass(frozen=True)
class RoundRobinResult:
    """P players, all pairs, on n deals."""

    names: tuple[str, ...]  # [P]
    margins: np.ndarray  # [P, P, n] float64, first over second, per deal
    rotations: int  # plays of each deal
    seconds: float  # without compilation
    interrupted: bool  # Ctrl-C came before the last deal

    @property
    def matrix(self) -> np.ndarray:
        """The mean margin of each player over each other, [P, P], the paper's xi."""
        return self.margins.mean(-1)

    @property
    def standard_errors(self) -> np.ndarray:
        """The standard errors of `matrix`, [P, P]; nan with a single deal."""
        return np.array(
            [[stats.estimate(cell).standard_error for cell in row] for row in self.margins]
        )

    @property
    def epsilon(self) -> float:
        """The paper's intransitivity; three players at least."""
        return float(stats.intransitivity(self.matrix))

    @property
    def epsilon_sd(self) -> float:
        """Standard deviation of `epsilon` by bootstrap over deals."""
        return stats.intransitivity_sd(self.margins)

    def summary(self) -> dict[str, Any]:
        """The figures as plain types, for a results file."""
        triples = len(self.names) > 2
        return {
            "players": list(self.names),
            "matrix": self.matrix.tolist(),
            "standard_errors": [[stats.number(e) for e in row] for row in self.standard_errors],
            "epsilon": self.epsilon if triples else None,
            "epsilon_sd": stats.number(self.epsilon_sd) if triples else None,
            "deals": self.margins.shape[-1],
            "rotations": self.rotations,
            "seconds": self.seconds,
            "interrupted": self.interrupted,
        }


def play_round_robin(
    players: Mapping[str, Player],
    deals: Deals | int,
    *,
    on_progress: ProgressFn | None = None,
    **options: Unpack[SeatingOptions],
) -> RoundRobinResult:
    """All pairs of `players`, which are given by the names they shall have in the result.

    The pairs take turns batch by batch, so that after Ctrl-C all of them have played the same
    deals. Progress counts the deals of all pairs together. Options as in `play_match`.
    """
    names = tuple(players)
    if len(names) < 2:
        raise PlayerError(f"a round robin needs at least two players, not {len(names)}")
    pairs = list(combinations(range(len(names)), 2))
    seatings = [match_seating(players[names[i]], players[names[j]], **options) for i, j in pairs]
    rotations, batch = seatings[0].rotations, seatings[0].batch
    deals = random_deals(seatings[0].seed, deals) if isinstance(deals, int) else deals
    rounds: list[np.ndarray] = []
    seconds = 0.0
    try:
        for start in range(0, len(deals), batch):
            part = deals.part(start, start + batch)
            margins = np.zeros((len(names), len(names), len(part)))
            for number, ((i, j), seating) in enumerate(zip(pairs, seatings, strict=True), start=1):
                result = seating.play(part)
                seconds += result.seconds
                margins[i, j] = MatchResult(result).margins
                margins[j, i] = -margins[i, j]
                if on_progress is not None:
                    on_progress(start * len(pairs) + len(part) * number, len(deals) * len(pairs))
            rounds.append(margins)
    except KeyboardInterrupt:
        if not rounds:
            raise
    margins = np.concatenate(rounds, axis=-1)
    return RoundRobinResult(names, margins, rotations, seconds, margins.shape[-1] < len(deals))
