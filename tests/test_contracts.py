"""Data of a wrong shape or type is refused where it enters, when a program is traced, and the
message says what is wrong with it."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gongzhu_jax import evaluation, players
from gongzhu_jax.game import env
from gongzhu_jax.game.public_view import PublicView, view
from gongzhu_jax.inference.config import InferenceConfig, make_params
from gongzhu_jax.inference.decision import decide
from gongzhu_jax.network.policy_value import make
from gongzhu_jax.opponents import card_belief, distilled_policy, opponent_model
from gongzhu_jax.search import SearchConfig, network_policy_value, search
from gongzhu_jax.training import LearnerConfig, SelfPlayConfig, selfplay
from gongzhu_jax.training.losses import loss

GAMES = 3
NETWORK = make("compact", width=4, blocks=1, stem=4)

Change = Callable[[Any], Any]


def _states() -> env.GameState:
    return jax.vmap(env.deal)(jax.random.split(jax.random.key(0), GAMES))


def _views() -> PublicView:
    return jax.vmap(view, (0, None))(_states(), 0)


def _params() -> Any:
    return NETWORK.init(jax.random.key(0))


def _search(change: Change) -> Any:
    arguments = (_params(), jax.random.key(0), change(_states()))
    return search(*arguments, network_policy_value(NETWORK), SearchConfig())


def _search_active(change: Change) -> Any:
    arguments = (_params(), jax.random.key(0), _states(), network_policy_value(NETWORK))
    return search(*arguments, SearchConfig(), active=change(jnp.ones(GAMES, bool)))


def _decide(change: Change, keys: int = GAMES) -> Any:
    config = InferenceConfig()
    params = make_params(_params(), config)
    split = jax.random.split(jax.random.key(0), keys)
    return decide(params, split, change(_views()), NETWORK, config)


def _loss(change: Change) -> Any:
    batch = change(selfplay.empty_positions(GAMES))
    return loss(_params(), batch, NETWORK, LearnerConfig())


def _self_play(change: Change) -> Any:
    numbers = change(jnp.arange(GAMES))
    arguments = (_params(), jax.random.key(0), numbers, network_policy_value(NETWORK))
    return selfplay.play_games(*arguments, SearchConfig(), SelfPlayConfig())


def _match(change: Change) -> Any:
    owners = change(np.zeros((GAMES, 52), np.int8))
    keys = jax.random.split(jax.random.key(0), GAMES)
    seats, leaders = np.zeros((GAMES, 4), np.int8), np.zeros(GAMES, np.int8)
    return evaluation.play_games([players.make("random")], seats, owners, leaders, keys)


def _belief(change: Change) -> Any:
    config = card_belief.BeliefConfig(reader=2, width=2, blocks=1)
    params = card_belief.init_belief(jax.random.key(0), config)
    return card_belief.log_odds(params, change(_views()), config)


def _distilled(change: Change) -> Any:
    belief = card_belief.BeliefConfig(reader=2, width=2, blocks=1)
    config = distilled_policy.DistilledConfig(belief, width=2, blocks=1)
    params = distilled_policy.init_distilled(jax.random.key(0), config)
    return distilled_policy.apply_views(params, change(_views()), config)


def _opponent_model(change_views: Change, change_holder: Change) -> Any:
    config = opponent_model.OpponentModelConfig(reader=2, width=2, rank=2)
    params = opponent_model.init_opponent_model(jax.random.key(0), config)
    holder = jnp.zeros((GAMES, 2, 52), jnp.int8)
    return opponent_model.log_likelihood(
        params, change_views(_views()), change_holder(holder), config
    )


def same(item: Any) -> Any:
    return item


def without_last(name: str) -> Change:
    """One card, seat or game too few in a field."""
    return lambda item: item.replace(**{name: getattr(item, name)[..., :-1]})


def as_floats(name: str) -> Change:
    return lambda item: item.replace(**{name: getattr(item, name).astype(jnp.float16)})


def one_game(item: Any) -> Any:
    """Without the axis of games."""
    return jax.tree.map(lambda leaf: leaf[0], item)


WRONG_TYPE = "has type .* but expected"
FLOATS = "types: float16 != "
REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "search holder": (lambda: _search(without_last("holder")), r"'holder': shapes: \(3, 51\)"),
    "search leaders": (lambda: _search(as_floats("leaders")), f"'leaders': {FLOATS}int8"),
    "search one": (lambda: _search(one_game), r"rank 0 \(shape \(\)\) but expected 1"),
    "search active": (lambda: _search_active(lambda x: x[:-1]), "different shapes"),
    "search active type": (
        lambda: _search_active(lambda x: x.astype(int)),
        WRONG_TYPE,
    ),
    "decide hand": (lambda: _decide(without_last("hand")), r"'hand': shapes: \(3, 51\)"),
    "decide voids": (lambda: _decide(as_floats("voids")), f"'voids': {FLOATS}bool"),
    "decide one": (lambda: _decide(one_game), r"rank 0 \(shape \(\)\) but expected 1"),
    "decide keys": (lambda: _decide(same, keys=2), r"shape \(2,\) but expected \(3\)"),
    "loss policy": (lambda: _loss(without_last("policy")), r"'policy': shapes: \(3, 51\)"),
    "loss searched": (lambda: _loss(as_floats("searched")), f"'searched': {FLOATS}bool"),
    "self-play": (lambda: _self_play(lambda x: x[None]), "rank 2 .* but expected 1"),
    "self-play type": (
        lambda: _self_play(lambda x: x.astype(jnp.float32)),
        WRONG_TYPE,
    ),
    "match": (lambda: _match(lambda x: x[:, :-1]), r"shape \(3, 51\) but expected"),
    "match type": (lambda: _match(lambda x: x.astype(np.float32)), WRONG_TYPE),
    "belief": (lambda: _belief(without_last("plays")), r"'plays': shapes: \(3, 51\)"),
    "belief type": (lambda: _belief(as_floats("seats")), f"'seats': {FLOATS}int8"),
    "distilled": (lambda: _distilled(without_last("taken_by")), "'taken_by': shapes"),
    "opponents": (lambda: _opponent_model(without_last("voids"), same), "'voids': shapes"),
    "opponents deals": (lambda: _opponent_model(same, lambda x: x[0]), r"shape \(2, 52\) but"),
    "opponents type": (
        lambda: _opponent_model(same, lambda x: x.astype(jnp.int32)),
        WRONG_TYPE,
    ),
}
"""A call with a mistake in it, and what the message says."""

ACCEPTED: dict[str, Callable[[], Any]] = {
    "search": lambda: _search(same),
    "search active": lambda: _search_active(same),
    "decide": lambda: _decide(same),
    "loss": lambda: _loss(same),
    "self-play": lambda: _self_play(same),
    "belief": lambda: _belief(same),
    "distilled": lambda: _distilled(same),
    "opponents": lambda: _opponent_model(same, same),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    call, message = REFUSED[name]
    with pytest.raises(AssertionError, match=message):
        jax.eval_shape(call)


@pytest.mark.parametrize("name", ACCEPTED)
def test_accepted(name: str) -> None:
    """The calls above are refused for the mistake in them and nothing else."""
    jax.eval_shape(ACCEPTED[name])
