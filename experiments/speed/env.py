"""Steps per second of the rules under uniform random play, beside other implementations.

A step is one card of one game, with the choice of the card. Whole games from the deal on, on all
devices; a single game on one.
"""

import random
from collections.abc import Callable, Sequence
from importlib import import_module, metadata
from typing import Any

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec

from experiments.speed.rates import rate
from gongzhu_jax import runtime
from gongzhu_jax.game import env
from gongzhu_jax.game.cards import NUM_CARDS
from gongzhu_jax.game.random_play import play_random

BatchFn = Callable[[jax.Array], jax.Array]
"""keys [B] -> anything [B]"""


def run(
    batches: Sequence[int] = (1, 64, 1024, 8192),
    repeats: int = 3,
    seconds: float = 0.5,
    pgx_games: Sequence[str] = ("connect_four",),
    seed: int = 0,
) -> dict[str, Any]:
    """One row for each implementation and batch size; `seconds` is the time of one measurement."""
    timing = {"repeats": repeats, "seconds": seconds}
    rows = [_row("gongzhu_jax", b, _jax_rate(random_game, b, seed, timing)) for b in batches]
    rows.append(_row("plain Python", 1, _host_rate(_oracle_game(), seed, timing)))
    hearts = _open_spiel_game()
    speed = _host_rate(hearts, seed, timing) if hearts else None
    rows.append(_row("OpenSpiel hearts", 1, speed))
    for name in pgx_games:
        play = _pgx_game(name)
        for batch in batches if play else batches[:1]:
            speed = _jax_rate(play, batch, seed, timing) if play else None
            rows.append(_row(f"pgx {name}", batch, speed))
    return {"rows": rows, "versions": {name: _version(name) for name in ("open_spiel", "pgx")}}


def _row(what: str, batch: int, speed: float | None) -> dict[str, Any]:
    return {"what": what, "batch": batch, "steps_per_second": speed or "not installed"}


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


# on arrays


def random_game(key: jax.Array) -> jax.Array:
    """Scores of a game by uniform legal cards, int32[4]."""
    deal_key, play_key = jax.random.split(key)
    return env.scores(play_random(play_key, env.deal(deal_key), NUM_CARDS))


def spread(play: BatchFn, batch: int) -> tuple[BatchFn, jax.sharding.Mesh]:
    """`play` for a batch over all devices that divide it, else on one."""
    devices = jax.devices()
    mesh = runtime.games_mesh(devices if batch % len(devices) == 0 else devices[:1])
    spec = PartitionSpec(runtime.GAMES)
    # Constants of the deal are the same on all devices, what comes of them is not.
    split = jax.shard_map(play, mesh=mesh, in_specs=spec, out_specs=spec, check_vma=False)
    return jax.jit(split), mesh


def _jax_rate(
    play: Callable[[jax.Array], jax.Array], batch: int, seed: int, timing: dict[str, Any]
) -> float:
    work, mesh = spread(jax.vmap(play), batch)
    keys = jax.device_put(jax.random.split(jax.random.key(seed), batch), runtime.over_games(mesh))
    return rate(lambda: work(keys), batch * NUM_CARDS, **timing)


def _pgx_game(name: str) -> Callable[[jax.Array], jax.Array] | None:
    """As many random steps of a pgx game as a game of ours has, new games where one ends."""
    try:
        pgx = import_module("pgx")
        auto_reset = import_module("pgx.experimental").auto_reset
    except ImportError:
        return None
    game = pgx.make(name)  # ty: ignore[invalid-argument-type]
    step = auto_reset(game.step, game.init)

    def play(key: jax.Array) -> jax.Array:
        first_key, play_key = jax.random.split(key)

        def one(state, key):
            choice_key, step_key = jax.random.split(key)
            draws = jax.random.uniform(choice_key, state.legal_action_mask.shape)
            action = jnp.argmax(jnp.where(state.legal_action_mask, draws, -1.0))
            return step(state, action, step_key), None

        keys = jax.random.split(play_key, NUM_CARDS)
        return jax.lax.scan(one, game.init(first_key), keys)[0].rewards

    return play


# on the host


def _host_rate(
    play: Callable[[random.Random], int], seed: int, timing: dict[str, Any], games: int = 20
) -> float:
    rng = random.Random(seed)
    steps = play(rng)
    return rate(lambda: [play(rng) for _ in range(games)], games * steps, **timing)


def _oracle_game() -> Callable[[random.Random], int]:
    rules = import_module("tests.oracle.rules")
    return lambda rng: len(rules.random_game(rng).plays)


def _open_spiel_game() -> Callable[[random.Random], int] | None:
    """A game of hearts without the passing of cards: 52 plays like ours."""
    try:
        pyspiel = import_module("pyspiel")
    except ImportError:
        return None
    game = pyspiel.load_game("hearts(pass_cards=false)")

    def play(rng: random.Random) -> int:
        state = game.new_initial_state()
        steps = 0
        while not state.is_terminal():
            steps += not state.is_chance_node()  # the deal is chance
            state.apply_action(rng.choice(state.legal_actions()))
        return steps

    return play
