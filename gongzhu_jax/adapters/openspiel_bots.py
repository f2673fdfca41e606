"""Bots of OpenSpiel: its IS-MCTS with our exact resampler, and our players as bots.

IS-MCTS is the one that OpenSpiel has in Python: only that one takes a resampler for a game that is
written in Python.
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from gongzhu_jax.adapters.extras import needs_extra
from gongzhu_jax.device_profile import check_sizes
from gongzhu_jax.errors import ConfigError
from gongzhu_jax.game.cards import NUM_SEATS
from gongzhu_jax.inference import sampling
from gongzhu_jax.players.protocol import Player

with needs_extra("openspiel"):
    import pyspiel
    from open_spiel.python.algorithms import ismcts

    from gongzhu_jax.adapters.openspiel_game import GongzhuState, state_of

DrawFn = Callable[[GongzhuState, int], np.ndarray]
"""(state, player) -> holders int8[n, 52] of deals that the player cannot tell from the true one"""

BLOCK = 64
"""Deals that are drawn at once: one by one, the call costs more than the deal."""


@dataclass(frozen=True)
class IsmctsConfig:
    """Options of IS-MCTS."""

    simulations: int = 200
    """Simulations for each decision."""
    worlds: int | None = None
    """Different deals in the simulations of a decision; None for a new one in each."""
    exploration: float = 200.0
    """The constant of UCT, in points."""
    rollouts: int = 1
    """Random games from a new node on."""

    def __post_init__(self) -> None:
        check_sizes(simulations=self.simulations, worlds=self.worlds, rollouts=self.rollouts)
        if not isinstance(self.exploration, int | float) or not self.exploration >= 0:
            raise ConfigError(f"exploration must be a number from 0 on, not {self.exploration!r}")


def ismcts_bot(
    config: IsmctsConfig | None = None, seed: int = 0, draw: DrawFn | None = None
) -> "IsmctsBot":
    """OpenSpiel's IS-MCTS for any seat; `draw` is where its deals come from, else our sampler."""
    config, keys = config or IsmctsConfig(), _keys(seed)

    def draw_block(state: GongzhuState, player: int) -> np.ndarray:
        return np.asarray(_sample(next(keys), state.view(player)))

    bot = IsmctsBot(
        game=None,  # it has no use for it
        evaluator=RandomRollouts(config.rollouts, seed),
        uct_c=config.exploration,
        max_simulations=config.simulations,
        max_world_samples=config.worlds or ismcts.UNLIMITED_NUM_WORLD_SAMPLES,
        random_state=np.random.RandomState(seed),
    )
    bot.set_resampler(Resampler(draw or draw_block))
    return bot


class IsmctsBot(ismcts.ISMCTSBot):
    """OpenSpiel's IS-MCTS with what its loops over games ask of a bot beside a card."""

    def restart(self) -> None:
        """There is nothing to forget: every decision is a search of its own."""

    def restart_at(self, state: GongzhuState) -> None:
        """There is nothing to prepare either, see `restart`."""


class Resampler:
    """States that a player cannot tell from the true one, as IS-MCTS asks for them.

    Their history is that of the first of them, so no true hand is in any.
    """

    def __init__(self, draw: DrawFn) -> None:
        self._draw = draw
        self._known = ""
        self._template: Any = None
        self._deals: Iterator[list[int]] = iter(())

    def __call__(self, state: GongzhuState, player: int) -> GongzhuState:
        known = state.information_state_string(player)
        if known != self._known:
            self._known, self._template, self._deals = known, None, iter(())
        holder = next(self._deals, None)
        if holder is None:
            self._deals = iter(self._draw(state, player).tolist())
            holder = next(self._deals)
        if self._template is None:
            table = state.table.copy()
            table.redeal(holder)
            self._template = state_of(table)
        world = self._template.clone()
        world.table.redeal(holder)
        return world


class RandomRollouts:
    """An evaluator of OpenSpiel: the mean result of random games, played on the host game."""

    def __init__(self, rollouts: int, seed: int) -> None:
        self._rollouts = rollouts
        self._random = random.Random(seed)

    def evaluate(self, state: GongzhuState) -> np.ndarray:
        total = np.zeros(NUM_SEATS)
        for _ in range(self._rollouts):
            table = state.table.copy()
            table.play_randomly(self._random)
            total += table.margins()
        return total / self._rollouts

    def prior(self, state: GongzhuState) -> list[tuple[int, float]]:
        legal = state.table.legal()
        return [(card, 1 / len(legal)) for card in legal]


class PlayerBot(pyspiel.Bot):
    """A player of this package as a bot of OpenSpiel, for any seat. It sees only views."""

    def __init__(self, player: Player, seed: int = 0) -> None:
        super().__init__()
        self._player = player
        self._keys = _keys(seed)

    def step(self, state: GongzhuState) -> int:
        return int(self._player.act(state.view(state.current_player()), next(self._keys)))

    def provides_policy(self) -> bool:
        return self._player.probabilities_fn is not None

    def get_policy(self, state: GongzhuState) -> list[tuple[int, float]]:
        """Probability of each legal card, of players that have a closed form."""
        known = state.view(state.current_player())
        probabilities = np.asarray(self._player.probabilities(known), np.float64)
        legal = state.legal_actions()
        return list(zip(legal, probabilities[legal].tolist(), strict=True))

    def step_with_policy(self, state: GongzhuState) -> tuple[list[tuple[int, float]], int]:
        return self.get_policy(state), self.step(state)

    def restart(self) -> None:
        """There is nothing to forget: a view has the whole history."""

    def restart_at(self, state: GongzhuState) -> None:
        """There is nothing to prepare either, see `restart`."""

    def inform_action(self, state: GongzhuState, player: int, action: int) -> None:
        """There is nothing to prepare either, see `restart`."""


def _keys(seed: int) -> Iterator[jax.Array]:
    key = jax.random.key(seed)
    while True:
        key, one = jax.random.split(key)
        yield one


_sample = jax.jit(lambda key, view: sampling.sample(key, view, BLOCK))
