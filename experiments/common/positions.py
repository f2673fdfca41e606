"""Positions to look at: all those of finished games of one player against itself."""

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from experiments.common.blocks import in_blocks
from experiments.common.progress import progress
from experiments.common.settings import PlaySettings, at_least
from gongzhu_jax import players
from gongzhu_jax.evaluation import SeatingResult
from gongzhu_jax.evaluation.matches import match_seating
from gongzhu_jax.game import env
from gongzhu_jax.game.cards import NUM_CARDS
from gongzhu_jax.inference.config import WeightConfig
from gongzhu_jax.inference.correction import slice_log_factor
from gongzhu_jax.network.policy_value import Network
from gongzhu_jax.network.policy_value import make as make_network
from gongzhu_jax.network.weights import load_weights
from gongzhu_jax.players import Player
from gongzhu_jax.search.config import SearchConfig
from gongzhu_jax.search.mcts import network_policy_value, search

STAGES = 48
"""Stages at which there can be a choice: in the last trick there is none."""

Sums = dict[str, np.ndarray]
Figures = dict[str, jax.Array]
"""What is measured in each game at one stage, [games, ...]."""


class Looked(NamedTuple):
    """What a measure is given of one stage of all games."""

    params: Any  # of the network
    key: jax.Array
    states: env.GameState  # [games]
    cards: jax.Array  # [games], played there


MeasureFn = Callable[..., Figures]
"""Measures what is looked at; the network and options are given by name."""


@dataclass(frozen=True, kw_only=True)
class PositionSettings(PlaySettings):
    """The player whose games are looked at, and the network."""

    checkpoint: str | None
    player: str


@dataclass(frozen=True, kw_only=True)
class FactorSettings(PositionSettings):
    """Settings of measures of correction factors."""

    beta: float = field(metadata=at_least(0))


def measure_games(settings: PositionSettings, measure: MeasureFn, *options: str) -> dict[str, Any]:
    """A result: blocks of sums of a measure over all positions of games of the settings' player
    against itself; `options` are settings that the measure takes."""
    config, params = load_weights(settings.checkpoint)
    finals = final_states(players.make(settings.player, checkpoint=settings.checkpoint), settings)
    given = {name: getattr(settings, name) for name in options}
    of_network = functools.partial(measure, network=make_network(config), **given)
    sums = sums_over_positions(finals, of_network, params, settings.seed)
    return {"blocks": in_blocks(sums), "games": len(finals.stage), **given}


def games_between(player: Player, opponent: Player, settings: PlaySettings) -> SeatingResult:
    """Games of two players on the deals of the settings, with their last states."""
    deals, options = settings.choose_deals().deals, settings.seating_options()
    with progress("games") as on_progress:
        seating = match_seating(player, opponent, **options)
        return seating.play(deals, keep_states=True, on_progress=on_progress)


def final_states(player: Player, settings: PlaySettings) -> env.GameState:
    """The last states [games] of games of a player against itself; `env.rewind` gives the positions
    before."""
    played = games_between(player, player, settings)
    if played.interrupted:
        raise KeyboardInterrupt
    return jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), played.states)


def sums_over_positions(
    finals: env.GameState, measure: MeasureFn, params: Any, seed: int, batch: int = 256
) -> Sums:
    """What `measure` says of all positions of finished games, summed over each game: [games, ...].

    Games are the units that errors are estimated over, as positions of one game are dependent.
    """

    def game_sums(params, key, finals):
        def add(stage, total):
            states = jax.vmap(env.rewind, (0, None))(finals, stage.astype(jnp.int8))
            cards = jnp.take(finals.plays, stage, axis=1)
            figures = measure(Looked(params, jax.random.fold_in(key, stage), states, cards))
            return jax.tree.map(jnp.add, total, figures)

        first = Looked(params, key, finals, finals.plays[:, 0])
        shapes = jax.eval_shape(lambda: measure(first))
        zero = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), shapes)
        return jax.lax.fori_loop(0, STAGES, add, zero)

    compiled = jax.jit(game_sums)
    count = len(finals.stage)
    size = min(batch, count)
    batches = []
    with progress("positions") as advance:
        for start in range(0, count, size):
            # The last batch is filled up with games that are dropped afterwards.
            index = np.arange(start, start + size) % count
            part = jax.tree.map(lambda leaf, at=index: np.asarray(leaf)[at], finals)
            key = jax.random.fold_in(jax.random.key(seed), start)
            sums = jax.tree.map(np.asarray, compiled(params, key, part))
            batches.append(jax.tree.map(lambda leaf, n=count - start: leaf[:n], sums))
            advance(min(start + size, count), count)
    return jax.tree.map(lambda *parts: np.concatenate(parts).astype(np.float64), *batches)


PAPER_FACTOR = WeightConfig(rule="iec", factor="exponential", regret="all")
ORIGINAL_FACTOR = WeightConfig(rule="iec", factor="clipped", regret="suit")


def correction_factors(
    logits: jax.Array, state: env.GameState, beta: float, config: WeightConfig = PAPER_FACTOR
) -> jax.Array:
    """The correction factor of IEC of each legal card, [52], by policy logits; 0 where not
    legal."""
    cards = jnp.arange(NUM_CARDS, dtype=jnp.int8)
    logs = jax.vmap(lambda card: slice_log_factor(logits, state, card, beta, config))(cards)
    return jnp.where(env.legal_mask(state), jnp.exp(logs), 0.0)


def visit_once(network: Network, params: Any, key: jax.Array, states: env.GameState) -> jax.Array:
    """Value of every legal card, [games, 52], in points at the end of the game for the mover's
    team, by the value network after it, all hands known. -inf where there is no choice."""
    config = SearchConfig(base=0, per_legal=1)
    return search(params, key, states, network_policy_value(network), config).q
