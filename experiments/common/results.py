"""Keeping results. Commands write to runs/; what is published goes to results/ and docs/."""

import functools
import json
import os
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from experiments.common import interrupts
from experiments.common.progress import note
from experiments.common.provenance import ROOT, is_clean, provenance
from experiments.common.settings import check_folder
from gongzhu_jax.errors import ConfigError
from gongzhu_jax.evaluation.fingerprint import Fingerprints
from gongzhu_jax.evaluation.match_records import RecordStore
from gongzhu_jax.evaluation.recorder import Recorder
from gongzhu_jax.files import write_whole

RECORDS = "records"


@dataclass
class Places:
    """The folders that results are written to and read from; tests have their own."""

    runs: Path = ROOT / "runs"
    results: Path = ROOT / "results"
    pictures: Path = ROOT / "docs"


PLACES = Places()


class Workplace:
    """Where one command puts its results, and who it says made them."""

    def __init__(
        self,
        command: str,
        publish: bool = False,
        allow_changes: bool = False,
        reuse_published: bool = True,
    ):
        """`reuse_published` is for all but a report that verifies the published records."""
        self.command, self.publish, self.allow_changes = command, publish, allow_changes
        self.runs, self.reuse_published = PLACES.runs, reuse_published
        self.provenance = provenance(command)
        self._started = time.monotonic()

    @property
    def folder(self) -> Path:
        return PLACES.results if self.publish else self.runs

    @property
    def pictures(self) -> Path:
        return PLACES.pictures if self.publish else self.runs

    @functools.cached_property
    def recorder(self) -> Recorder:
        """Plays matches that are not on record."""
        mine, published = self.runs / RECORDS, PLACES.results / RECORDS
        if self.publish:
            store = RecordStore(published, mine, only_clean=not self.allow_changes)
        else:
            store = RecordStore(mine, *([published] if self.reuse_published else []))
        fingerprints = Fingerprints(self.runs / "fingerprints.json")
        return Recorder(store, fingerprints, self.provenance, note, interrupts.received)

    def check(self) -> None:
        """Before the work: whether there is a place for its results, and whether the code that is
        about to publish is a commit."""
        for folder in {self.folder, self.pictures}:
            folder.mkdir(parents=True, exist_ok=True)
            check_folder(folder, "results")
        if self.publish and not is_clean() and not self.allow_changes:
            raise ConfigError(
                "publish=true needs a tree without changes: commit them, or say "
                "allow_changes=true, and the page will say so"
            )

    def write(
        self, name: str, result: Mapping[str, Any], settings: Any, path: Path | None = None
    ) -> None:
        """Writes a result with all that one needs to know to get it again: to `path`, else where
        its settings (a dataclass or a mapping) want it, else to the folder of all results."""
        config = dict(settings) if isinstance(settings, Mapping) else asdict(settings)
        content = {
            "name": name,
            **self.provenance,
            "seconds": round(time.monotonic() - self._started, 1),
            "seed": config.pop("seed", None),
            "config": config,
            "result": dict(result),
        }
        path = path or Path(config.get("output") or self.folder / f"{name}.json")
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, (json.dumps(content, indent=1) + "\n").encode())
        note(f"kept in {os.path.relpath(path)}")


def read_result(path: Path) -> dict[str, Any] | None:
    """A results file, or None if there is none."""
    return json.loads(path.read_text()) if path.is_file() else None
