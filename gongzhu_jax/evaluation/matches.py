"""Two against two on duplicate deals: how strong one player is against another.

Each deal is played again with every hand, and the lead, moved one seat on, so that the other team
gets those hands. The mean margin of a deal's plays is one observation.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Unpack

import numpy as np

from gongzhu_jax.errors import ConfigError
from gongzhu_jax.evaluation import stats
from gongzhu_jax.evaluation.deals import Deals
from gongzhu_jax.evaluation.seatings import (
    ProgressFn,
    Seating,
    SeatingOptions,
    SeatingResult,
    fitting_batch,
)
from gongzhu_jax.players.protocol import Player


@dataclass(frozen=True)
class MatchResult:
    """The first player's team, at seats 0 and 2, against the second's."""

    seating: SeatingResult

    @property
    def names(self) -> tuple[str, str]:
        return self.seating.names[0], self.seating.names[1]

    @cached_property
    def margins(self) -> np.ndarray:
        """Points of the first team minus those of the second, the mean over the plays of each deal,
        float64[n]."""
        points = self.seating.points
        return (points[..., 0::2].sum(-1) - points[..., 1::2].sum(-1)).mean(-1)

    @cached_property
    def estimate(self) -> stats.Estimate:
        """Mean margin and its standard error over deals."""
        return stats.estimate(self.margins)

    @property
    def mean(self) -> float:
        return self.estimate.mean

    @property
    def standard_error(self) -> float:
        return self.estimate.standard_error

    @property
    def win_rate(self) -> float:
        return stats.win_rate(self.margins)

    @property
    def draw_rate(self) -> float:
        return stats.draw_rate(self.margins)

    @property
    def interrupted(self) -> bool:
        return self.seating.interrupted

    def summary(self) -> dict[str, Any]:
        """The figures of the match as plain types, for a results file."""
        return {
            "players": list(self.names),
            **self.estimate.summary(),
            "win_rate": self.win_rate,
            "draw_rate": self.draw_rate,
            **self.seating.summary(),
        }


def play_match(
    player: Player,
    opponent: Player,
    deals: Deals | int,
    *,
    keep_states: bool = False,
    on_progress: ProgressFn | None = None,
    **options: Unpack[SeatingOptions],
) -> MatchResult:
    """Two of `player` against two of `opponent`, on `deals` or, if that is a number, on that many
    deals drawn from the seed.

    `rotations` is 2 or 4; see `Seating` for it and the other options.
    """
    if options.get("batch") is None:
        options["batch"] = fitting_batch(deals if isinstance(deals, int) else len(deals))
    return MatchResult(
        match_seating(player, opponent, **options).play(
            deals, keep_states=keep_states, on_progress=on_progress
        )
    )


def match_seating(player: Player, opponent: Player, **options: Unpack[SeatingOptions]) -> Seating:
    """The seating of a match, to play it more than once."""
    seating = Seating((player, opponent, player, opponent), **options)
    if seating.rotations not in (2, 4):
        raise ConfigError(f"in a match rotations must be 2 or 4, not {seating.rotations}")
    return seating
