"""How long our players take must not tell whether they had a choice."""

import asyncio
import time
from collections.abc import Generator
from typing import Any

import numpy as np
import pytest

from gongzhu_jax.arena.client import Client
from gongzhu_jax.arena.pace import Pace
from gongzhu_jax.game.cards import card_id
from tests.arena.live_server import Arena, in_process, run


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Generator[Arena]:
    with in_process(tmp_path_factory.mktemp("pace") / "arena.sqlite") as (running, _):
        yield running


async def watch(arena: Arena, number: int) -> list[tuple[bool, float]]:
    """Whether each move of our players in one game was forced, and how long it took."""
    async with Client(arena.ws, f"watcher {number}", turns_only=False) as client:
        table = await client.create([None, "if", "if", "if"], 0)
        await client.tell("ready", table=table, seat=0)
        before, moves, event = 0.0, [], {"type": ""}
        while event["type"] != "game_end":
            event = await client.next_event(lambda view: view["legal"][0])
            if event["type"] == "played":
                now = time.monotonic()
                moves.append((event, now - before))
                before = now
        return [
            (_forced(event, moved), seconds)
            for moved, seconds in moves
            if moved["seat"] != 0 and moved["stage"] > 0
        ]


def _forced(end: dict[str, Any], moved: dict[str, Any]) -> bool:
    """From what is told at the end of the game."""
    stage, plays = moved["stage"], end["plays"]
    left = [card for card in end["hands"][moved["seat"]] if card not in plays[:stage]]
    if stage % 4 == 0:
        return len(left) == 1
    suit = card_id(plays[stage - stage % 4]) // 13
    following = [card for card in left if card_id(card) // 13 == suit]
    return len(following or left) == 1


def separation(moves: list[tuple[bool, float]]) -> float:
    """How often a forced move was quicker than one that was not: 0.5 tells nothing, 1 tells all."""
    forced = np.array([seconds for was_forced, seconds in moves if was_forced])
    free = np.array([seconds for was_forced, seconds in moves if not was_forced])
    assert min(len(forced), len(free)) > 30
    return float(np.mean(forced[:, None] < free[None, :]))


def test_time_does_not_tell_forced_moves(arena: Arena) -> None:
    async def play() -> list[tuple[bool, float]]:
        games = await asyncio.gather(*(watch(arena, number) for number in range(6)))
        return [move for game in games for move in game]

    moves = run(play)
    assert abs(separation(moves) - 0.5) < 0.17
    # The least time is 0.15 s; on a busy machine some moves are heard of late and the next soon.
    assert np.median([seconds for _, seconds in moves]) > 0.1


@pytest.mark.parametrize("busy", [0.001, 0.2, 1.0])
def test_forced_and_free_moves_have_one_distribution_also_when_the_server_is_busy(
    busy: float,
) -> None:
    pace, rng, moves = Pace(0.15, 0.3), np.random.default_rng(0), []
    for _ in range(4000):
        thought = None if rng.random() < 0.4 else rng.gamma(3, busy / 3)
        moves.append((thought is None, pace.seconds("x", thought)))
    assert abs(separation(moves) - 0.5) < 0.04
