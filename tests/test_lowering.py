"""Every main program can be lowered for GPUs and TPUs, and asks nothing of them that they are bad
at: no call to the host, no float of 64 bits, no message that is not needed."""

import functools
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gongzhu_jax import players
from gongzhu_jax.device_profile import GPU, DeviceProfile, using
from gongzhu_jax.evaluation.fingerprint import fixed_positions
from gongzhu_jax.evaluation.games import compile_games
from gongzhu_jax.game.cards import NUM_CARDS, NUM_SEATS
from gongzhu_jax.mixture_training import MixtureTrainingConfig, compile_learn
from gongzhu_jax.mixture_training.epoch import init_state
from gongzhu_jax.network import NetworkConfig, make
from gongzhu_jax.opponents.card_belief import BeliefConfig
from gongzhu_jax.opponents.opponent_model import OpponentModelConfig
from gongzhu_jax.players import scrofazero
from gongzhu_jax.runtime import games_mesh
from gongzhu_jax.search import SearchConfig, network_policy_value, search
from gongzhu_jax.training.config import LearnerConfig, SelfPlayConfig, TrainingConfig
from gongzhu_jax.training.epoch import compile_epoch, compile_self_play, state_shapes

NETWORK = NetworkConfig("compact", stem=16, width=16, blocks=1)
DEVICES = 2


def lowered(function: Any, *arguments: Any, sizes: DeviceProfile = GPU) -> str:
    """The text of a program for GPUs and TPUs, with the sizes that suit them."""
    with using(sizes):
        text = jax.export.export(function, platforms=("cuda", "tpu"))(*arguments).mlir_module()
    assert "f64" not in text
    assert "callback" not in text
    assert "stablehlo.while" in text or "stablehlo.select" in text
    return text


def messages(text: str) -> int:
    for other in ("all_gather", "all_to_all", "collective_permute", "reduce_scatter"):
        assert f"stablehlo.{other}" not in text
    return text.count("stablehlo.all_reduce")


@functools.cache
def mesh() -> Any:
    return games_mesh(jax.devices()[:DEVICES])


def test_epoch() -> None:
    """Self-play only adds up its statistics at the end. An update sends one vector, and before it,
    unless messages are dear, the sum of squared errors, whose root the gradient needs."""
    config = TrainingConfig(
        epochs=1,
        network=NETWORK,
        search=SearchConfig(per_legal=1),
        selfplay=SelfPlayConfig(games=4),
        learner=LearnerConfig(review=1, passes=1, minibatch=52, value_loss="rmse"),
    )
    state = state_shapes(config, mesh())
    alone = lowered(compile_self_play(config, mesh()), state.learner.params, state.key)
    for number in (1, 2):
        sizes = replace(GPU, messages=number)
        whole = lowered(compile_epoch(config, mesh()), state, sizes=sizes)
        assert messages(whole) == messages(alone) + number


def test_search() -> None:
    states = jax.tree.map(lambda leaf: leaf[:4], fixed_positions()[0])
    net = make(NETWORK)

    def run(params: Any, states: Any) -> Any:
        config = SearchConfig(base=10)
        return search(params, jax.random.key(0), states, network_policy_value(net), config).q

    lowered(jax.jit(run), jax.eval_shape(net.init, jax.random.key(0)), states)


@pytest.mark.parametrize("name", ["random", "if", "greed", *scrofazero.PRESETS])
def test_players(name: str) -> None:
    player = players.make(name)
    _, views, keys, _ = jax.tree.map(lambda leaf: leaf[:2], fixed_positions())
    lowered(jax.jit(player.act_batch), player.params, keys, views)


def test_match() -> None:
    two = [players.make(name) for name in ("if", "policy")]
    play = compile_games(tuple(p.act_batch for p in two), mesh(), 2, "threefry2x32", 0.1, False)
    seats, cards, leaders = (
        np.zeros((4, DEVICES, *shape), np.int8) for shape in ((NUM_SEATS,), (NUM_CARDS,), ())
    )
    tables = (seats, cards, leaders, np.zeros((4, DEVICES, 2), np.uint32), cards)
    assert messages(lowered(play, [p.params for p in two], *tables)) == 0


@pytest.mark.parametrize(
    "network",
    [BeliefConfig(8, 8, 1), OpponentModelConfig(1, 8, 8, 4), NETWORK],
    ids=["belief", "opponent-model", "critic"],
)
def test_trainings_on_mixtures(network: Any) -> None:
    name = "scrofa-strong@self" if network is NETWORK else "greed"
    config = MixtureTrainingConfig(
        epochs=1,
        network=network,
        games=8,
        window=8,
        updates=2,
        minibatch=32,
        positions=8,
        learning_rate=1e-3,
        final_learning_rate=1e-3,
        average=0.9,
        mixture={name: 1.0},
    )
    state = jax.eval_shape(lambda: init_state(config, mesh()))
    learn = compile_learn(config, mesh())
    assert (
        messages(lowered(learn, state.learner, state.window, jnp.int32(8), jax.random.key(0))) == 1
    )
