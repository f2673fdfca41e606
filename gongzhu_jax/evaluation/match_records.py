"""One record per match: everything that decides its outcome, the margin of every deal, and which
code played it when.

A record is a small JSON file `<digest>-<deals>.json`. The digest is of the players with all options
and weights, the set of deals, rotations, seed, rules and what both players do in fixed positions.
Whatever changes play gives another name; settings of speed are not in it. As every deal is played
with keys of its own, a record of more deals goes on where one of fewer ended.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from gongzhu_jax.errors import RecordError
from gongzhu_jax.evaluation import stats
from gongzhu_jax.evaluation.fingerprint import json_digest
from gongzhu_jax.files import write_whole

Provenance = Mapping[str, Any]
"""Who played: commit, clean, source, date, machine, command."""


@dataclass(frozen=True)
class Segment:
    """Deals of a record that were played by the same code on the same machine."""

    stop: int  # deals from the end of the segment before up to, not including, this one
    seconds: float  # of play, without compilation
    provenance: Provenance

    def plain(self) -> dict[str, Any]:
        return {"stop": self.stop, "seconds": round(self.seconds, 2), **self.provenance}


@dataclass(frozen=True)
class MatchRecord:
    """A match as it was played."""

    identity: Mapping[str, Any]
    margins: np.ndarray  # [deals] float64, points of the first team minus those of the second
    segments: tuple[Segment, ...]

    @property
    def match(self) -> str:
        """The digest of all that decides the outcome."""
        return json_digest(self.identity)

    def first(self, count: int) -> "MatchRecord":
        """The record of the first `count` deals; the seconds of a cut segment are in proportion."""
        kept: list[Segment] = []
        start = 0
        for segment in self.segments:
            stop = min(segment.stop, count)
            if stop > start:
                share = (stop - start) / (segment.stop - start)
                kept.append(replace(segment, stop=stop, seconds=segment.seconds * share))
            start = segment.stop
        return replace(self, margins=self.margins[:count], segments=tuple(kept))

    def summary(self) -> dict[str, Any]:
        """The figures of the match as plain types: a row of a results file."""
        rotations = self.identity["rotations"]
        seconds = sum(segment.seconds for segment in self.segments)
        return {
            "match": self.match,
            "players": [player["name"] for player in self.identity["players"]],
            **stats.estimate(self.margins).summary(),
            "win_rate": stats.win_rate(self.margins),
            "draw_rate": stats.draw_rate(self.margins),
            "rotations": rotations,
            "set": "{set}-{version}".format_map(self.identity["deals"]),
            "seed": self.identity["seed"],
            "seconds": round(seconds, 2),
            "games_per_second": rotations * len(self.margins) / max(seconds, 1e-9),
            **self._played_by(),
        }

    def _played_by(self) -> dict[str, Any]:
        by = [segment.provenance for segment in self.segments]
        return {
            "commits": list(dict.fromkeys(one["commit"] for one in by)),
            "clean": all(one["clean"] for one in by),
            "command": by[-1].get("command", ""),
        }

    def to_json(self) -> str:
        content = {
            "match": self.match,
            "identity": self.identity,
            "deals": len(self.margins),
            "segments": [segment.plain() for segment in self.segments],
            "margins": [float(f"{margin:.6g}") for margin in self.margins],
        }
        return json.dumps(content, default=str) + "\n"


def read_record(path: Path) -> MatchRecord:
    """A record from its file; `RecordError` if it is damaged or not what its name says."""
    try:
        content = json.loads(path.read_text())
        segments = []
        for part in content["segments"]:
            provenance = {k: v for k, v in part.items() if k not in ("stop", "seconds")}
            segments.append(Segment(part["stop"], part["seconds"], provenance))
        record = MatchRecord(
            content["identity"], np.array(content["margins"], np.float64), tuple(segments)
        )
        name = f"{record.match}-{len(record.margins)}"
        fits = segments[-1].stop == len(record.margins) and content["deals"] == len(record.margins)
    except (OSError, ValueError, KeyError, IndexError, TypeError) as error:
        raise RecordError(f"{path} is not a match record: {error}") from error
    if name != path.stem or not fits:
        raise RecordError(f"{path} does not hold the match that its name says")
    return record


class RecordStore:
    """Folders of records: new ones are written to the first, and read from all.

    Args:
      only_clean: take only records that were played by code without changes, and copy those of
        other folders to the first.
    """

    def __init__(self, folder: Path, *others: Path, only_clean: bool = False):
        self.folder = folder
        self._folders = (folder, *others)
        self._only_clean = only_clean

    def find(self, match: str) -> MatchRecord | None:
        """The record of a match with the most deals."""
        paths = [path for folder in self._folders for path in folder.glob(f"{match}-*.json")]
        records = [read_record(path) for path in paths]
        if self._only_clean:
            records = [record for record in records if record.summary()["clean"]]
        return max(records, key=lambda record: len(record.margins), default=None)

    def adopt(self, record: MatchRecord) -> None:
        """Copies a record to the first folder if what is published must be there."""
        if self._only_clean and not self._path(record).is_file():
            self.save(record)

    def _path(self, record: MatchRecord) -> Path:
        return self.folder / f"{record.match}-{len(record.margins)}.json"

    def get(self, match: str, deals: int) -> MatchRecord:
        """The first deals of a match that must be there."""
        record = self.find(match)
        if record is None or len(record.margins) < deals:
            raise RecordError(f"there is no record of {deals} deals of the match {match}")
        return record.first(deals)

    def save(self, record: MatchRecord) -> None:
        """Writes a record, which replaces shorter ones of the same match."""
        self.folder.mkdir(parents=True, exist_ok=True)
        write_whole(self._path(record), record.to_json().encode())
        for other in self.folder.glob(f"{record.match}-*.json"):
            if int(other.stem.rpartition("-")[2]) < len(record.margins):
                other.unlink(missing_ok=True)

    def keep(self, record: MatchRecord) -> None:
        """Saves a record that was made elsewhere, unless one of as many deals is here."""
        known = self.find(record.match)
        if known is None or len(known.margins) < len(record.margins):
            self.save(record)

    def others_of(self, identity: Mapping[str, Any]) -> list[MatchRecord]:
        """Records of the same match but for what the players do: code that changed play."""
        wanted = _without_fingerprints(identity)
        records = [read_record(path) for folder in self._folders for path in folder.glob("*.json")]
        match = json_digest(identity)
        return [
            record
            for record in records
            if record.match != match and _without_fingerprints(record.identity) == wanted
        ]


def _without_fingerprints(identity: Mapping[str, Any]) -> str:
    return json_digest({k: v for k, v in identity.items() if k != "fingerprints"})
