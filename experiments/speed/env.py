"""Steps per second of the rules under uniform random play, beside other implementations.

A step is one card of one game, with the choice of the card. Whole games from the deal on, on all
devices; a single game on one.
"""

import functools
import random
from collections.abc import Callable, Sequence
from importlib import import_module, metadata
from typing import Any

import jax
import jax.numpy as jnp

from experiments.speed.rates import on_devices, rate
from gongzhu_jax import runtime
from gongzhu_jax.game import env
from gongzhu_jax.game.cards import NUM_CARDS
from gongzhu_jax.game.random_play import play_random

GameFn = Callable[[jax.Array], jax.Array]
"""key -> anything that must be known for the game to have been played"""
HOST_GAMES = 20
"""Games of one call of what runs on the host."""


def run(
    batches: Sequence[int] = (1, 64, 1024, 8192),
    repeats: int = 3,
    seconds: float = 0.5,
    pgx_games: Sequence[str] = ("connect_four",),
    seed: int = 0,
) -> dict[str, Any]:
    """One row for each implementation and batch size; `seconds` is the time of one measurement."""
    measure = functools.partial(rate, repeats=repeats, seconds=seconds)

    def on_arrays(play: GameFn, batch: int) -> float:
        work, mesh = spread(jax.vmap(play), batch)
        keys = jax.random.split(jax.random.key(seed), batch)
        placed = jax.device_put(keys, runtime.over_games(mesh))
        return measure(lambda: work(placed), batch * NUM_CARDS)

    def on_host(play: Callable[[random.Random], int]) -> float:
        rng = random.Random(seed)
        steps = play(rng)
        return measure(lambda: [play(rng) for _ in range(HOST_GAMES)], HOST_GAMES * steps)

    rules, hearts = import_module("tests.oracle.rules"), _open_spiel_game()
    measured: list[tuple[str, int, float | str]] = [
        ("gongzhu_jax", batch, on_arrays(random_game, batch)) for batch in batches
    ]
    measured.append(("plain Python", 1, on_host(lambda rng: len(rules.random_game(rng).plays))))
    measured.append(("OpenSpiel hearts", 1, on_host(hearts) if hearts else "not installed"))
    for name in pgx_games:
        if play := _pgx_game(name):
            measured += [(f"pgx {name}", batch, on_arrays(play, batch)) for batch in batches]
        else:
            measured.append((f"pgx {name}", batches[0], "not installed"))
    heads = ("what", "batch", "steps_per_second")
    rows = [dict(zip(heads, row, strict=True)) for row in measured]
    return {"rows": rows, "versions": {name: _version(name) for name in ("open_spiel", "pgx")}}


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def random_game(key: jax.Array) -> jax.Array:
    """Scores of a game by uniform legal cards, int32[4]."""
    deal_key, play_key = jax.random.split(key)
    return env.scores(play_random(play_key, env.deal(deal_key), NUM_CARDS))


def spread(play: GameFn, batch: int) -> tuple[GameFn, jax.sharding.Mesh]:
    """`play` for a batch over all devices that divide it, else on one."""
    devices = jax.devices()
    mesh = runtime.games_mesh(devices if batch % len(devices) == 0 else devices[:1])
    return on_devices(play, mesh), mesh


def _pgx_game(name: str) -> GameFn | None:
    """Random steps of a pgx game, as many as a game of ours has, with new games where one ends."""
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
