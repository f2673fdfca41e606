"""Plays matches that are not on record yet, and keeps what it plays."""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np

from gongzhu_jax.evaluation.deal_sets import ChosenDeals
from gongzhu_jax.evaluation.fingerprint import Fingerprints, json_digest, player_identity
from gongzhu_jax.evaluation.match_records import MatchRecord, Provenance, RecordStore, Segment
from gongzhu_jax.evaluation.matches import MatchResult, match_seating
from gongzhu_jax.evaluation.seatings import ProgressFn, SeatingOptions, fitting_batch
from gongzhu_jax.game.env import RULES_VERSION
from gongzhu_jax.players.protocol import Player


@dataclass(frozen=True)
class Recorder:
    """Plays matches that are not in the store yet, and keeps them there."""

    store: RecordStore
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
        identity = self._identity(player, opponent, chosen, options)
        record = self.store.find(json_digest(identity)) or MatchRecord(identity, np.zeros(0), ())
        done, count = len(record.margins), len(chosen.deals)
        self._announce(name, record, count)
        if done >= count:
            self.store.adopt(record)
            return record.first(count)
        batch = fitting_batch(count - done, options.get("batch"))
        options["batch"] = batch
        seating = match_seating(player, opponent, **options)
        seating.compile()
        while done < count:
            if self.should_stop():
                raise KeyboardInterrupt
            started = time.perf_counter()
            result = seating.play(chosen.deals.part(done, min(done + batch, count)))
            seconds = time.perf_counter() - started
            record = self._extend(record, MatchResult(result).margins, seconds)
            self.store.save(record)
            done = len(record.margins)
            if on_progress is not None:
                on_progress(done, count)
        return record

    def _identity(
        self, player: Player, opponent: Player, chosen: ChosenDeals, options: SeatingOptions
    ) -> dict[str, Any]:
        """Everything that decides the outcome of a match, but for the number of deals."""
        both = (player, opponent)
        identity = {
            "players": [player_identity(one) for one in both],
            "deals": chosen.identity,
            "rotations": options.get("rotations", 2),
            "seed": options.get("seed", 0),
            "rules": str(RULES_VERSION),
            "fingerprints": [self.fingerprints.of(one) for one in both],
        }
        return json.loads(json.dumps(identity, default=str))  # as it is read back from a file

    def _extend(self, record: MatchRecord, margins: np.ndarray, seconds: float) -> MatchRecord:
        stop = len(record.margins) + len(margins)
        segments = record.segments
        if segments and segments[-1].provenance == self.provenance:
            seconds += segments[-1].seconds
            segments = segments[:-1]
        segments = (*segments, Segment(stop, seconds, self.provenance))
        return replace(record, margins=np.concatenate([record.margins, margins]), segments=segments)

    def _announce(self, name: str, record: MatchRecord, count: int) -> None:
        if record.segments:
            commits = ", ".join(c[:10] for c in record.summary()["commits"])
            deals = min(len(record.margins), count)
            self.say(f"{name}: {deals} of {count} deals are on record, played by commit {commits}")
        elif others := self.store.others_of(record.identity):
            commits = ", ".join(sorted({c[:10] for o in others for c in o.summary()["commits"]}))
            self.say(
                f"{name}: the record of commit {commits} is not used, "
                "as the players now choose other cards"
            )
