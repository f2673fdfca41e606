"""Settings of the search: of one scenario, and of how many scenarios a card is searched in."""

import math
from dataclasses import dataclass, field

from gongzhu_jax.device_profile import check_sizes
from gongzhu_jax.errors import ConfigError, check_choice
from gongzhu_jax.game.cards import NUM_TRICKS
from gongzhu_jax.game.scoring import LONE_TRANSFORMER


@dataclass(frozen=True)
class SearchConfig:
    """Budget per root: `base + per_legal x legal cards`. The paper trains with 0 + 2 x legal and
    evaluates with 10 + 2 x legal; 0 + 1 x legal is its "raw network"."""

    base: int = 0  # simulations for every root
    per_legal: int = 2  # further simulations per legal card
    method: str = "ucb"  # "ucb" (paper); for trainings also "gumbel" (mctx's Gumbel policy)
    exploration: float = 30.0  # c of UCB1, in points
    ucb_factor: float = 1.0  # v + c sqrt(factor ln N / n): 1 in the paper, 2 in the original runs
    lone_transformer: int = LONE_TRANSFORMER  # points of C10 alone before the end of the game
    # How far play goes on, by the opponent model, before a position is evaluated: "none", or to the
    # end of the "trick" or of the "game". It needs weights by the opponent model.
    rollout: str = field(default="none", metadata={"added": True})
    # The share of the value after the rollout; the rest is the value of the position before it.
    rollout_share: float = field(default=1.0, metadata={"added": True})
    # Where at most so many tricks are left after a rollout to the end of the trick, it goes on to
    # the end of the game; the last trick is forced, so 1 makes values exact there.
    endgame: int = field(default=0, metadata={"added": True})
    # Of equal cards, such as D4 and D5 (or D6 if the D5 is gone), search only the lowest and play
    # any. It needs one visit per legal card.
    merge_equal: bool = field(default=False, metadata={"added": True})
    search_forced: bool = False  # for trainings: also search where only one card is legal
    chunk: int | None = None  # roots that share one tree, states per network batch; null: usual

    def __post_init__(self) -> None:
        check_choice("method", self.method, ("ucb", "gumbel"))
        check_choice("rollout", self.rollout, ("none", "trick", "game"))
        if not 0 < self.rollout_share <= 1 or (self.rollout == "none" and self.rollout_share < 1):
            raise ConfigError("rollout_share lies above 0 and, with a rollout, may be below 1")
        if not 0 <= self.endgame <= NUM_TRICKS or (self.endgame and self.rollout != "trick"):
            raise ConfigError(
                f"endgame lies in 0..{NUM_TRICKS}, and needs rollouts to the end of the trick "
                "(search.rollout=trick)"
            )
        if self.base < 0 or self.per_legal < 0 or self.base + self.per_legal == 0:
            raise ConfigError("a search needs a positive budget: base + per_legal x legal cards")
        if not (0 <= self.exploration < math.inf and 0 < self.ucb_factor < math.inf):
            raise ConfigError("exploration must be >= 0 and ucb_factor > 0")
        if self.merge_equal and not self.one_visit:
            raise ConfigError(
                "merge_equal needs one visit per legal card (search.base=0, search.per_legal=1)"
            )
        check_sizes(chunk=self.chunk)

    def check_player(self) -> None:
        """`ConfigError` for what only trainings can do."""
        if self.search_forced:
            raise ConfigError("search.search_forced is for trainings: players do not search there")
        if self.method == "gumbel":
            raise ConfigError(
                "search.method=gumbel is for trainings: it draws for many positions together, "
                "and what a player does in one game must not depend on the others"
            )

    @property
    def one_visit(self) -> bool:
        """Every legal card is visited exactly once: no tree is needed."""
        return self.method == "ucb" and self.base == 0 and self.per_legal == 1


@dataclass(frozen=True)
class RacingConfig:
    """When a card is searched in no further scenarios because it is clearly worse."""

    # Scenarios searched between two looks. 0, or as many as there are: every card in all of them.
    block: int = 0
    errors: float = 2.0  # standard errors below the best card at which a card is dropped

    def __post_init__(self) -> None:
        if self.block < 0 or self.block == 1 or not 0 <= self.errors < math.inf:
            raise ConfigError(
                "a race looks after blocks of at least 2 scenarios, as one alone has no standard "
                "error (racing.block=0 is no race), and its errors must be at least 0"
            )
