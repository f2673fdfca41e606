"""What tests of the arena's features for people share."""

import asyncio
import json
import urllib.error
import urllib.request
from typing import Any

from gongzhu_jax.arena.client import Client
from tests.arena.live_server import Arena


def get(arena: Arena, path: str) -> Any:
    """The answer, or the status if it is an error."""
    try:
        with urllib.request.urlopen(arena.http + path, timeout=60) as answer:
            body = answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code
    return json.loads(body) if body.startswith(("[", "{")) else body


async def aget(arena: Arena, path: str) -> Any:
    return await asyncio.to_thread(get, arena, path)


def low(view: dict[str, Any]) -> str:
    return view["legal"][0]


async def play_out(client: Client) -> dict[str, Any]:
    """Plays the lowest cards to the end of the game."""
    while (event := await client.next_event(low))["type"] != "game_end":
        pass
    return event
