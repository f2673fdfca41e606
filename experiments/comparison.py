"""Several matches on the same deals, each kept as it is finished, so that a killed run goes on.

A finished match is a small file under results/parts, named by a digest of all that decides its
outcome: players with options and weights, deals, seed, rules. Margins of every deal are in it, so
that differences between matches can be paired by deal.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from experiments.progress import progress
from experiments.results import RESULTS
from experiments.settings import PlaySettings
from gongzhu_jax.checkpoint import digest
from gongzhu_jax.evaluation import Estimate, paired_difference, play_match
from gongzhu_jax.files import write_whole
from gongzhu_jax.game.env import RULES_VERSION
from gongzhu_jax.players import Player

PARTS = RESULTS / "parts"


@dataclass(frozen=True)
class Pairing:
    """One match of a comparison."""

    name: str
    player: Player
    opponent: Player
    deals: int | None = None  # the first so many of the deals; None for all


@dataclass(frozen=True)
class Comparison:
    """The matches that were finished, in order."""

    rows: Mapping[str, dict[str, Any]]  # what `MatchResult.summary` says
    margins: Mapping[str, np.ndarray]  # [deals] of each
    interrupted: bool

    def difference(self, name: str, other: str) -> Estimate:
        """`name` minus `other` on the deals that both played."""
        count = min(len(self.margins[name]), len(self.margins[other]))
        return paired_difference(self.margins[name][:count], self.margins[other][:count])


def compare(
    pairings: Sequence[Pairing], settings: PlaySettings, parts: Path | None = None
) -> Comparison:
    """Plays all matches on the deals of the settings, or takes those that were played before.

    Ctrl-C keeps the matches that are finished, if there is one.
    """
    rows: dict[str, dict[str, Any]] = {}
    margins: dict[str, np.ndarray] = {}
    interrupted = False
    try:
        for pairing in pairings:
            part = _play_or_read(pairing, settings, parts or PARTS)
            rows[pairing.name] = part["summary"]
            margins[pairing.name] = np.array(part["margins"])
    except KeyboardInterrupt:
        if not rows:
            raise
        interrupted = True
    return Comparison(rows, margins, interrupted)


def _play_or_read(pairing: Pairing, settings: PlaySettings, parts: Path) -> dict[str, Any]:
    deals = settings.draw_deals()
    if pairing.deals is not None:
        deals = deals.part(0, pairing.deals)
    options = settings.seating_options()
    identity = {
        "players": [_identity(pairing.player), _identity(pairing.opponent)],
        "set": settings.set,
        "deals": len(deals),
        "seed": settings.seed,
        "rotations": options.get("rotations", 2),
        "rules": str(RULES_VERSION),
    }
    name = hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:20]
    path = parts / f"{name}.json"
    if path.is_file():
        return json.loads(path.read_text())
    with progress(pairing.name) as on_progress:
        match = play_match(
            pairing.player, pairing.opponent, deals, on_progress=on_progress, **options
        )
    if match.interrupted:
        raise KeyboardInterrupt
    part = {
        "identity": identity,
        "summary": match.summary(),
        "margins": match.margins.tolist(),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, json.dumps(part).encode())
    return part


def _identity(player: Player) -> dict[str, Any]:
    return {
        "name": player.name,
        "config": repr(player.config),
        "params": digest(player.params),
    }
