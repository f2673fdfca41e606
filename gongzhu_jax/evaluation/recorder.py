"""Plays matches that are not on record yet, and keeps what it plays."""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np

from gongzhu_jax.device_profile import profile
from gongzhu_jax.evaluation.deal_sets import ChosenDeals
from gongzhu_jax.evaluation.fingerprint import Fingerprints, json_digest, player_identity
from gongzhu_jax.evaluation.match_records import MatchRecord, MatchStore, Provenance, Segment
from gongzhu_jax.evaluation.matches import MatchResult, match_seating
from gongzhu_jax.evaluation.seatings import ProgressFn, SeatingOptions
from gongzhu_jax.game.env import RULES_VERSION
from gongzhu_jax.players.protocol import Player


def match_identity(
    player: Player,
    opponent: Player,
    chosen: ChosenDeals,
    *,
    seed: int,
    rotations: int,
    fingerprints: Fingerprints,
) -> dict[str, Any]:
    """Everything that decides the outcome of a match, but for the number of deals."""
    identity = {
        "players": [player_identity(player), player_identity(opponent)],
        "deals": chosen.identity,
        "rotations": rotations,
        "seed": seed,
        "rules": str(RULES_VERSION),
        "fingerprints": [fingerprints.of(player), fingerprints.of(opponent)],
    }
    return json.loads(json.dumps(identity, default=str))  # as it is read back from a file


@dataclass(frozen=True)
class Recorder:
    """Plays matches that are not in the store yet, and keeps them there."""

    store: MatchStore
    fingerprints: Fingerprints
    provenance: Provenance
    say: Callable[[str], None] = lambda text: None
    should_stop: Callable[[], bool] = lambda: False

    def play(
        self,
        name: str,
        player: Player,
        opponent: Player,
        chosen: ChosenDeals,
        *,
        on_progress: ProgressFn | None = None,
        **options: Unpack[SeatingOptions],
    ) -> MatchRecord:
        """The record of a match on all of the deals.

        It is saved after every batch, so that what is interrupted or killed goes on from there.
        """
        if self.should_stop():
            raise KeyboardInterrupt
        identity = match_identity(
            player,
            opponent,
            chosen,
            seed=options.get("seed", 0),
            rotations=options.get("rotations", 2),
            fingerprints=self.fingerprints,
        )
        record = self.store.find(json_digest(identity))
        count = len(chosen.deals)
        self._announce(name, record, identity, count)
        if record is not None and len(record.margins) >= count:
            self.store.adopt(record)
            return record.first(count)
        done = 0 if record is None else len(record.margins)
        # A batch that is not full costs as much as a full one, so few deals get a small one.
        batch = min(options.get("batch") or profile().deals, 1 << (count - done - 1).bit_length())
        options["batch"] = batch
        seating = match_seating(player, opponent, **options)
        seating.compile()
        while done < count:
            if self.should_stop():
                raise KeyboardInterrupt
            started = time.perf_counter()
            result = seating.play(chosen.deals.part(done, min(done + batch, count)))
            seconds = time.perf_counter() - started
            record = self._extend(record, identity, MatchResult(result).margins, seconds)
            self.store.save(record)
            done = len(record.margins)
            if on_progress is not None:
                on_progress(done, count)
        assert record is not None
        return record

    def _extend(
        self,
        record: MatchRecord | None,
        identity: Mapping[str, Any],
        margins: np.ndarray,
        seconds: float,
    ) -> MatchRecord:
        if record is None:
            return MatchRecord(
                identity, margins, (Segment(len(margins), seconds, self.provenance),)
            )
        stop = len(record.margins) + len(margins)
        *before, last = record.segments
        longer = replace(last, stop=stop, seconds=last.seconds + seconds)
        next_one = Segment(stop, seconds, self.provenance)
        same = last.provenance == self.provenance
        segments = (*before, longer) if same else (*before, last, next_one)
        return replace(record, margins=np.concatenate([record.margins, margins]), segments=segments)

    def _announce(
        self, name: str, record: MatchRecord | None, identity: Mapping[str, Any], count: int
    ) -> None:
        if record is not None:
            commits = ", ".join(c[:10] for c in record.summary()["commits"])
            deals = min(len(record.margins), count)
            self.say(f"{name}: {deals} of {count} deals are on record, played by commit {commits}")
        elif others := self.store.others_of(identity):
            commits = ", ".join(sorted({c[:10] for o in others for c in o.summary()["commits"]}))
            self.say(
                f"{name}: the record of commit {commits} is not used, "
                "as the players now choose other cards"
            )
