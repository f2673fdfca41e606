"""A table as it is stored, and the table made of it again when the server starts."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from gongzhu_jax.arena.deals import Deal, DealFn, GameKey
from gongzhu_jax.arena.effects import By, Effect, Phase
from gongzhu_jax.arena.seats import TableRules
from gongzhu_jax.arena.table import Table


def dump_table(at: Table) -> dict[str, Any]:
    """All of a table but the cards played, in plain types. Holds secrets: tokens and the deal."""
    deal = at.deal if at.phase in (Phase.PLAYING, Phase.RECORDING) else None
    return {
        "rules": dataclasses.asdict(at.rules),
        "seats": [[place.player, place.name, place.token] for place in at.seats],
        "games": at.games_finished,
        "totals": at.totals,
        "names": at.names,
        "deal": None if deal is None else dataclasses.asdict(deal),
    }


def restore_table(
    table_id: str,
    state: dict[str, Any],
    plays: Sequence[tuple[int, str]],
    deal_fn: Callable[[TableRules], DealFn],
    now: float,
) -> tuple[Table, list[Effect]]:
    """The table with nobody connected; its clients come back with their tokens."""
    rules = TableRules(**state["rules"])
    own = [player for player, _, _ in state["seats"]]
    preparing = {player for player in own if player is not None}
    at = Table(table_id, own, rules, deal_fn(rules), now, preparing)
    for place, (_, name, token) in zip(at.seats, state["seats"], strict=True):
        place.name, place.token, place.left = name, token, now
    at.games_finished, at.totals = state["games"], state["totals"]
    at.names = tuple(state["names"])
    if state["deal"] is None:
        return at, []
    stored = state["deal"]
    key = GameKey(**stored["key"])
    deal = Deal(stored["owners"], stored["leader"], key, stored["metadata"])
    return at, at.resume(deal, [(card, By(by)) for card, by in plays], now)
