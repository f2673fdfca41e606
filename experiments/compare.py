"""Matches on the same deals, and differences between them paired by deal.

    python -m experiments.compare rows=techniques
    python -m experiments.compare 'matches={few:[greed@5,greed]}' 'players={greed@5:{samples:5}}'

configs/rows has the comparisons that are published: techniques, weightings, inputs, strength,
oracle_gap and openspiel. Each match is one record (docs/results.md), so what was played before is
not played again. The result has `rows` by name, each a summary of a record with the commits that
played it, and `differences` of two rows on the deals that both played.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from experiments.common.cli import Result, choose_devices, experiment
from experiments.common.launchers import HERE, LauncherSettings, launch
from experiments.common.plots import plot_points
from experiments.common.progress import progress
from experiments.common.provenance import provenance
from experiments.common.results import Workplace
from experiments.common.settings import PlaySettings
from experiments.report.sections import PICTURES
from gongzhu_jax.errors import ConfigError
from gongzhu_jax.evaluation import paired_difference
from gongzhu_jax.evaluation.match_records import MatchRecord, Recorder
from gongzhu_jax.network.weights import load_weights
from gongzhu_jax.players import Player, all_seeing
from gongzhu_jax.players.labels import check_labels, make_labelled, player_name
from gongzhu_jax.search.config import SearchConfig

SEES_ALL = "sees-all"
"""The player that is given all hands; only comparisons know it by name."""


@dataclass(frozen=True, kw_only=True)
class CompareSettings(PlaySettings):
    name: str  # of the result
    matches: dict[str, list[str]] = field(default_factory=dict)
    players: dict[str, dict[str, Any]] = field(default_factory=dict)
    differences: list[list[str]] = field(default_factory=list)
    deals_of: dict[str, int] = field(default_factory=dict)
    checkpoint: str | None
    launcher: LauncherSettings = field(default_factory=LauncherSettings)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.matches:
            raise ConfigError("there are no matches: say rows=techniques, or matches={...}")
        if any(len(pair) != 2 for pair in (*self.matches.values(), *self.differences)):
            raise ConfigError("matches and differences are pairs")
        check_labels(dict.fromkeys(self.labels), self.players)
        for name in (*(row for pair in self.differences for row in pair), *self.deals_of):
            if name not in self.matches:
                rows = ", ".join(self.matches)
                raise ConfigError(f"there is no row {name!r}; there are {rows}")
        if any(not 0 < count <= self.deals for count in self.deals_of.values()):
            raise ConfigError(f"deals_of must lie in 1..{self.deals}, the number of deals")

    @property
    def labels(self) -> list[str]:
        return [label for pair in self.matches.values() for label in pair]


@dataclass(frozen=True)
class Pairing:
    """One match of a comparison."""

    name: str
    player: Player
    opponent: Player
    deals: int


def make_player(label: str, settings: CompareSettings) -> Player:
    if player_name(label) != SEES_ALL:
        return make_labelled(label, settings.players, {"checkpoint": settings.checkpoint})
    options = settings.players.get(label, {})
    network, params = load_weights(settings.checkpoint)
    return all_seeing.from_network(network, params, SearchConfig(**options.get("search", {})))


def play_in_process(pairing: Pairing, settings: PlaySettings, recorder: Recorder) -> MatchRecord:
    """One match in a process of a launcher."""
    choose_devices()
    of_this_machine = provenance(recorder.provenance["command"])
    recorder = replace(recorder, provenance=of_this_machine)
    return play_all([pairing], settings, recorder)[pairing.name]


def play_all(
    pairings: Sequence[Pairing],
    settings: PlaySettings,
    recorder: Recorder,
    launcher: LauncherSettings | None = None,
) -> dict[str, MatchRecord]:
    """Plays all matches on the deals of the settings, or takes them from the records.

    Ctrl-C keeps what is finished, and the finished deals of the match that it stops.
    """
    if launcher is not None and launcher.name != HERE:
        return _play_elsewhere(pairings, settings, recorder, launcher)
    records: dict[str, MatchRecord] = {}
    try:
        with progress("matches") as advance:
            for pairing in pairings:
                advance(len(records), len(pairings))
                with progress(pairing.name) as on_progress:
                    records[pairing.name] = recorder.play(
                        pairing.name,
                        pairing.player,
                        pairing.opponent,
                        settings.choose_deals(pairing.deals),
                        on_progress=on_progress,
                        **settings.seating_options(pairing.deals),
                    )
    except KeyboardInterrupt:
        done = f"{len(records)} of {len(pairings)} matches are finished and kept"
        raise KeyboardInterrupt(done) from None
    return records


def _play_elsewhere(
    pairings: Sequence[Pairing],
    settings: PlaySettings,
    recorder: Recorder,
    launcher: LauncherSettings,
) -> dict[str, MatchRecord]:
    """Every match in a process of its own; records are kept as they come."""
    records: dict[int, MatchRecord] = {}
    calls = [(pairing, settings, recorder) for pairing in pairings]
    with progress(f"matches by {launcher.name}") as advance:
        advance(0, len(pairings))
        for number, record in launch(launcher, play_in_process, calls):
            recorder.store.keep(record)
            records[number] = record
            advance(len(records), len(pairings))
    return {pairing.name: records[number] for number, pairing in enumerate(pairings)}


def difference(records: Mapping[str, MatchRecord], name: str, other: str) -> dict[str, Any]:
    """`name` minus `other` on the deals that both played."""
    count = min(len(records[name].margins), len(records[other].margins))
    first, second = (records[row].margins[:count] for row in (name, other))
    return paired_difference(first, second).summary()


def run(settings: CompareSettings, work: Workplace, recorder: Recorder | None = None) -> Result:
    players = {label: make_player(label, settings) for label in dict.fromkeys(settings.labels)}
    pairings = [
        Pairing(name, players[one], players[other], settings.deals_of.get(name, settings.deals))
        for name, (one, other) in settings.matches.items()
    ]
    records = play_all(pairings, settings, recorder or work.recorder(), settings.launcher)
    return {
        "name": settings.name,
        "rows": {name: record.summary() for name, record in records.items()},
        "differences": {
            f"({a}) - ({b})": difference(records, a, b) for a, b in settings.differences
        },
    }


def draw(result: Result, folder: Path) -> None:
    """Comparisons whose section has a picture get one."""
    for file, caption in PICTURES.get(result["name"], {}).items():
        plot_points(result["rows"], caption, folder / file)


main = experiment("compare", CompareSettings, run, draw)

if __name__ == "__main__":
    sys.exit(main())
