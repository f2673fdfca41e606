"""Many games in lock step on the devices, with any players at any seats.

All games are at the same stage. At each stage the games are ordered by the player that has to
decide, and each player is asked in chunks of fixed size for its own games only. A move without a
choice is played without asking anybody.
"""

import functools
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import chex
import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import multihost_utils
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from gongzhu_jax import runtime
from gongzhu_jax.device_profile import profile
from gongzhu_jax.errors import IllegalPlayError
from gongzhu_jax.game import env
from gongzhu_jax.game.cards import CARDS, NO_CARD, NUM_CARDS, NUM_SEATS, SEATS
from gongzhu_jax.game.public_view import view
from gongzhu_jax.players.protocol import BatchFn, Params, Player, SeesAll
from gongzhu_jax.players.scrofazero import SearchAct

NO_PLAYER = -1
"""Stands for a seat of a game that only pads: nobody is asked, the lowest legal card is played."""

_POLL_SECONDS = 0.002


class FinishedGames(NamedTuple):
    """B finished games, on the host or on the devices."""

    states: env.GameState  # [B]
    points: np.ndarray | jax.Array  # [B, 4] int32, points of each seat
    illegal: np.ndarray | jax.Array  # [B] int8, stage of the first illegal play, else NUM_CARDS
    random: np.ndarray | jax.Array  # [B, 52] bool, plays drawn at random in place of a decision
    # [B, 52, 52] float16, the averaged Q of each decision; -inf where a card is illegal or its
    # player gave none. None unless it was asked for.
    q: np.ndarray | jax.Array | None


def play_games(
    players: Sequence[Player],
    seat_player: np.ndarray,
    owners: np.ndarray | jax.Array,
    leaders: np.ndarray | jax.Array,
    keys: jax.Array,
    *,
    mesh: Mesh | None = None,
    chunk: int | None = None,
    to_host: bool = True,
    opening: np.ndarray | None = None,
    random_play: float = 0.0,
    record_q: bool = False,
    name_game: Callable[[int], str] = "game {}".format,
) -> FinishedGames:
    """Plays B games to the end. What happens in a game does not depend on the other games.

    Args:
      players: the players that sit at the tables.
      seat_player: [B, 4], the index in `players` of who sits at each seat, or NO_PLAYER.
      owners: [B, 52], the seat that each card is dealt to.
      leaders: [B], the seat that leads the first trick.
      keys: [B], one key a game; the key of a decision is folded from it and the stage.
      mesh: devices to spread the games over; all of them unless told otherwise.
      chunk: decisions that a player is asked for at once; the default suits the device.
      to_host: whether the games are fetched; else, on a single host, they stay on the devices.
      opening: [B, 52], plays that are made before anybody is asked, then NO_CARD.
      random_play: the probability that a decision is a uniformly random legal card.
      record_q: whether the averaged Q of players that search is kept.
      name_game: what errors call the game of a number.

    Raises:
      GongzhuError: what went wrong in a player that runs on the host, or an IllegalPlayError.
    """
    chex.assert_shape(seat_player, (len(owners), NUM_SEATS))
    chex.assert_shape(owners, (None, NUM_CARDS))
    chex.assert_shape([leaders, keys], (len(owners),))
    chex.assert_type([seat_player, owners, leaders], int)
    mesh = mesh or runtime.games_mesh()
    count, devices = len(owners), mesh.size
    rows = -(-count // devices)
    chunk = min(chunk or profile().decisions, rows)
    play = compile_games(
        tuple(player.act_batch for player in players),
        mesh,
        chunk,
        str(jax.random.key_impl(keys)),
        random_play,
        record_q,
    )
    if opening is None:
        opening = np.full((count, NUM_CARDS), NO_CARD, np.int8)
    params = jax.device_put([player.params for player in players], runtime.on_all(mesh))

    def spread(array: np.ndarray | jax.Array, filler: int) -> jax.Array:
        """Turns [B, ...] into [rows, devices, ...]: neighbours go to different devices, so that
        the games of a batch that is mostly padding still share the work out evenly."""
        many_hosts = jax.process_count() > 1  # each has the whole array and places its part
        xp = jnp if isinstance(array, jax.Array) and not many_hosts else np
        padding = xp.full((rows * devices - count, *array.shape[1:]), filler, array.dtype)
        padded = xp.concatenate([array, padding]).reshape(rows, devices, *array.shape[1:])
        return jax.device_put(padded, NamedSharding(mesh, SPREAD))

    finished = play(
        params,
        spread(seat_player.astype(np.int8), NO_PLAYER),
        spread(owners.astype(np.int8), 0),
        spread(leaders.astype(np.int8), 0),
        spread(jax.random.key_data(keys), 0),
        spread(opening.astype(np.int8), NO_CARD),
    )
    _wait(finished)
    for player in players:
        player.raise_failure()

    def collect(array: jax.Array) -> np.ndarray | jax.Array:
        whole = _to_host(array) if to_host or jax.process_count() > 1 else array
        return whole.reshape(rows * devices, *array.shape[2:])[:count]

    games = FinishedGames(*jax.tree.map(collect, finished))
    for number in np.flatnonzero(np.asarray(games.illegal) < NUM_CARDS)[:1].tolist():
        stage = int(games.illegal[number])
        seat = (int(games.states.leaders[number, stage // NUM_SEATS]) + stage) % NUM_SEATS
        raise IllegalPlayError(
            f"player {players[seat_player[number, seat]].name!r} broke the rules: "
            f"{name_game(number)}, play {stage + 1}, card id {games.states.plays[number, stage]}"
        )
    return games


SPREAD = PartitionSpec(None, runtime.GAMES)


@functools.lru_cache(maxsize=32)
def compile_games(
    acts: tuple[BatchFn, ...],
    mesh: Mesh,
    chunk: int,
    key_impl: str,
    random_play: float,
    record_q: bool,
):
    """The program for these players, devices and chunks; parameters are arguments of it."""

    def play(params, *games):
        seat_player, owners, leaders, key_data, opening = (leaf[:, 0] for leaf in games)
        keys = jax.random.wrap_key_data(key_data, impl=key_impl)
        tables = _Tables(seat_player, keys, opening, acts, params, chunk, record_q)
        finished = _play(tables, jax.vmap(env.from_owners)(owners, leaders), random_play)
        return jax.tree.map(lambda leaf: leaf[:, None], finished)

    sharded = jax.shard_map(
        play,
        mesh=mesh,
        in_specs=(PartitionSpec(), *[SPREAD] * 5),
        out_specs=SPREAD,
        # Loops of players (searches among them) do not carry the types that this would check.
        check_vma=False,
    )
    return jax.jit(sharded)


class _Tables(NamedTuple):
    """Who plays the games of one device, and how they are asked."""

    seat_player: jax.Array  # [B, 4]
    keys: jax.Array  # [B]
    opening: jax.Array  # [B, 52]
    acts: tuple[BatchFn, ...]
    params: list[Params]
    chunk: int
    record_q: bool


def _play(tables: _Tables, states: env.GameState, random_play: float) -> FinishedGames:
    """The games of one device, played to the end."""
    count = len(tables.keys)

    def play_stage(carry, stage):
        states, illegal = carry
        legal = jax.vmap(env.legal_mask)(states)
        given = tables.opening[:, stage]
        cards, q, asked = _decisions(tables, states, legal, given)
        cards, random = _sometimes_random(tables.keys, stage, cards, legal, asked, random_play)
        cards = jnp.where(given == NO_CARD, cards, given)
        allowed = jnp.any(legal & (cards[:, None] == CARDS[None]), axis=1)
        illegal = jnp.where(allowed, illegal, jnp.minimum(illegal, states.stage))
        return (jax.vmap(env.step)(states, cards), illegal), (random, q)

    illegal = jnp.full(count, NUM_CARDS, jnp.int8)
    (states, illegal), (random, q) = jax.lax.scan(
        play_stage, (states, illegal), jnp.arange(NUM_CARDS)
    )
    random, q = jax.tree.map(lambda leaf: jnp.swapaxes(leaf, 0, 1), (random, q))
    return FinishedGames(states, jax.vmap(env.scores)(states), illegal, random, q)


def _decisions(
    tables: _Tables, states: env.GameState, legal: jax.Array, given: jax.Array
) -> tuple[jax.Array, jax.Array | None, jax.Array]:
    """The card of each game, [B], its Q if it is recorded, and whether anybody was asked, [B]."""
    movers = jax.vmap(env.player_to_move)(states)
    cards = jnp.min(jnp.where(legal, CARDS[None], np.int8(NUM_CARDS)), axis=1)
    q = jnp.full(legal.shape, -jnp.inf, jnp.float16) if tables.record_q else None
    here = movers[:, None] == SEATS[None]
    player = jnp.sum(jnp.where(here, tables.seat_player, 0), axis=1, dtype=jnp.int8)
    choice = jnp.sum(legal, axis=1, dtype=jnp.int8) > 1
    asked = choice & (given == NO_CARD) & (player != NO_PLAYER)
    deciding = jnp.where(asked, player, jnp.int8(len(tables.acts)))
    order = jnp.argsort(deciding)
    last = 0
    for number, act in enumerate(tables.acts):
        first, last = last, last + jnp.sum(deciding == number)
        decide = functools.partial(
            _decide, act, tables.params[number], tables.keys, states, movers, tables.record_q
        )
        cards, q = _ask_in_chunks(decide, order, first, last, tables.chunk, (cards, q))
    return cards, q, asked


def _sometimes_random(
    keys: jax.Array,
    stage: jax.Array,
    cards: jax.Array,
    legal: jax.Array,
    asked: jax.Array,
    random_play: float,
) -> tuple[jax.Array, jax.Array]:
    """`cards` with some decisions replaced by uniformly random legal cards, and which ones."""
    if random_play == 0:
        return cards, jnp.zeros(cards.shape, bool)

    def of_game(key, card, legal, asked):
        # Decisions fold in stages, which are smaller.
        flag_key, card_key = jax.random.split(jax.random.fold_in(key, NUM_CARDS + stage))
        random = asked & (jax.random.uniform(flag_key) < random_play)
        other = jax.random.categorical(card_key, jnp.log(legal.astype(jnp.float32)))
        return jnp.where(random, other.astype(jnp.int8), card), random

    return jax.vmap(of_game)(keys, cards, legal, asked)


def _decide(
    act: BatchFn,
    params: Params,
    keys: jax.Array,
    states: env.GameState,
    movers: jax.Array,
    record_q: bool,
    games: jax.Array,
) -> tuple[jax.Array, jax.Array | None]:
    """The cards of one player in the games of these numbers, and its Q if it is recorded."""
    states, movers, keys = jax.tree.map(lambda leaf: leaf[games], (states, movers, keys))
    keys = jax.vmap(jax.random.fold_in)(keys, states.stage)
    shown = states if isinstance(act, SeesAll) else jax.vmap(view)(states, movers)
    if not record_q:
        return act(params, keys, shown).astype(jnp.int8), None
    if isinstance(act, SearchAct):
        decision = act.decide(params, keys, shown)
        return decision.card, decision.q.astype(jnp.float16)
    none = jnp.full((len(games), NUM_CARDS), -jnp.inf, jnp.float16)
    return act(params, keys, shown).astype(jnp.int8), none


def _ask_in_chunks(decide, order, first, last, chunk: int, carry):
    """`carry`, arrays [B, ...], with the decisions for the games `order[first:last]` put in."""

    def ask(number, carry):
        places = first + number * chunk + np.arange(chunk)
        # A chunk that is not full repeats the last game: the player never sees a game of others,
        # and the same card is put in twice.
        games = order[jnp.minimum(places, last - 1)]
        return jax.tree.map(lambda old, new: old.at[games].set(new), carry, decide(games))

    return jax.lax.fori_loop(0, (last - first + chunk - 1) // chunk, ask, carry)


def _wait(arrays) -> None:
    """Waits in Python, so that Ctrl-C is heard before the games are over."""
    while not all(leaf.is_ready() for leaf in jax.tree.leaves(arrays)):
        time.sleep(_POLL_SECONDS)


def _to_host(array: jax.Array) -> np.ndarray:
    if jax.process_count() > 1:
        return multihost_utils.process_allgather(array, tiled=True)
    return np.asarray(array)
