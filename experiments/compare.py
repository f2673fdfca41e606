"""Matches on the same deals, and differences between them paired by deal.

    python -m experiments.compare rows=techniques
    python -m experiments.compare 'matches={few:[greed@5,greed]}' 'players={greed@5:{samples:5}}'

configs/rows has the comparisons that are published: techniques, weightings, inputs, strength,
parts, alternatives, refinements, partners, anytime, oracle_gap, retrained and openspiel. A team of
two different players is written "one + other". Each match is one record (docs/results.md), so what
was played before is not played again. The result has `rows` by name, each a summary of a record
with the commits that played it, `differences` of two rows on the deals that both played, and if
`move_time` is set, `milliseconds`: how long the first player of each row takes for a move.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import jax
import numpy as np

from experiments.common.cli import Result, changed_settings, choose_devices, experiment
from experiments.common.launchers import HERE, LauncherSettings, launch_all
from experiments.common.plots import plot_over_time, plot_points
from experiments.common.progress import note, progress
from experiments.common.provenance import provenance
from experiments.common.results import Workplace
from experiments.common.settings import PlaySettings
from experiments.report.texts import TEXTS
from gongzhu_jax.errors import ConfigError
from gongzhu_jax.evaluation import paired_difference
from gongzhu_jax.evaluation.fingerprint import fixed_positions
from gongzhu_jax.evaluation.match_records import MatchRecord
from gongzhu_jax.evaluation.recorder import Recorder
from gongzhu_jax.network.weights import load_weights
from gongzhu_jax.players import Player, all_seeing
from gongzhu_jax.players.labels import check_labels, make_labelled, player_name
from gongzhu_jax.players.partners import partners
from gongzhu_jax.search.config import SearchConfig

SEES_ALL = "sees-all"
"""The player that is given all hands; only comparisons know it by name."""
SHARED = ("set", "deals", "seed", "rotations", "batch", "chunk")
"""Settings that a comparison within another experiment has from it."""
AND = " + "
"""Between the labels of two partners."""


@dataclass(frozen=True, kw_only=True)
class CompareSettings(PlaySettings):
    name: str  # the name of the result
    matches: dict[str, list[str]] = field(default_factory=dict)
    players: dict[str, dict[str, Any]] = field(default_factory=dict)
    differences: list[list[str]] = field(default_factory=list)
    deals_of: dict[str, int] = field(default_factory=dict)
    checkpoint: str | None
    move_time: bool
    launcher: LauncherSettings = field(default_factory=LauncherSettings)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.matches:
            raise ConfigError("there are no matches: say rows=techniques, or matches={...}")
        if any(len(pair) != 2 for pair in (*self.matches.values(), *self.differences)):
            raise ConfigError("matches and differences are pairs")
        for team in self.teams:
            if len(team.split(AND)) > 2:
                raise ConfigError(f"a team has two partners, and {team!r} names more")
        check_labels(dict.fromkeys(self.labels), self.players)
        for name in (*(row for pair in self.differences for row in pair), *self.deals_of):
            if name not in self.matches:
                rows = ", ".join(self.matches)
                raise ConfigError(f"there is no row {name!r}; there are {rows}")
        if any(count < 1 for count in self.deals_of.values()):
            raise ConfigError("a match has at least 1 deal: deals_of has less")

    @property
    def teams(self) -> list[str]:
        """A label, or those of two partners, for each side of all matches."""
        return [team for pair in self.matches.values() for team in pair]

    @property
    def labels(self) -> list[str]:
        return [label for team in self.teams for label in team.split(AND)]


def make_player(label: str, settings: CompareSettings) -> Player:
    if player_name(label) != SEES_ALL:
        return make_labelled(label, settings.players, {"checkpoint": settings.checkpoint})
    options = {"checkpoint": settings.checkpoint, "search": {}, **settings.players.get(label, {})}
    if unknown := sorted(options.keys() - {"checkpoint", "search"}):
        raise ConfigError(f"{label} has the options checkpoint and search, not {unknown[0]!r}")
    network, params = load_weights(options["checkpoint"])
    return all_seeing.from_network(network, params, SearchConfig(**options["search"]))


def make_team(team: str, settings: CompareSettings) -> Player:
    """Two players of one label, or two partners."""
    made = [make_player(label, settings) for label in team.split(AND)]
    return made[0] if len(made) == 1 else partners(*made)


def play_one(
    name: str,
    players: tuple[Player, Player],
    count: int,
    settings: PlaySettings,
    recorder: Recorder,
) -> MatchRecord:
    """A match on the first `count` deals, or what the records have of it."""
    chosen, options = settings.choose_deals(count), settings.seating_options(count)
    with progress(name) as on_progress:
        return recorder.play(name, *players, chosen, on_progress=on_progress, **options)


def play_in_process(*call: Any) -> MatchRecord:
    """`play_one` in a process of a launcher, on a machine of its own."""
    choose_devices()
    *match, recorder = call
    of_this_machine = provenance(recorder.provenance["command"])
    return play_one(*match, replace(recorder, provenance=of_this_machine))


def play_all(
    matches: Mapping[str, tuple[Player, Player]],
    settings: PlaySettings,
    work: Workplace,
    deals_of: Mapping[str, int] | None = None,
    launcher: LauncherSettings | None = None,
) -> dict[str, MatchRecord]:
    """Plays all matches on the deals of the settings, or takes them from the records.

    Ctrl-C keeps what is finished, and the finished deals of the match that it stops. `deals_of` has
    the matches that get fewer deals than the others, and how many at the most. With a launcher
    every match is played in a process of its own, and records are kept as they come.
    """
    launcher = launcher or LauncherSettings()
    counts = {
        name: min((deals_of or {}).get(name, settings.deals), settings.deals) for name in matches
    }
    calls = [(name, of, counts[name], settings, work.recorder) for name, of in matches.items()]
    play = play_one if launcher.name == HERE else play_in_process
    records = launch_all(launcher, play, calls, "matches", work.recorder.store.keep)
    return dict(zip(matches, records, strict=True))


def as_rows(records: Mapping[str, MatchRecord]) -> Result:
    """Records as a result has them; there need be no differences."""
    rows = {name: record.summary() for name, record in records.items()}
    return {"rows": rows, "differences": {}}


def differences(
    records: Mapping[str, MatchRecord], pairs: Iterable[Sequence[str]]
) -> dict[str, dict[str, Any]]:
    """The differences of pairs of matches, as a result names them."""
    return {f"({a}) - ({b})": difference(records, a, b) for a, b in pairs}


def difference(records: Mapping[str, MatchRecord], name: str, other: str) -> dict[str, Any]:
    """`name` minus `other` on the deals that both played."""
    count = min(len(records[name].margins), len(records[other].margins))
    first, second = (records[row].margins[:count] for row in (name, other))
    return paired_difference(first, second).summary()


def run(settings: CompareSettings, work: Workplace) -> Result:
    players = {team: make_team(team, settings) for team in dict.fromkeys(settings.teams)}
    matches = {name: (players[one], players[two]) for name, (one, two) in settings.matches.items()}
    for name, count in settings.deals_of.items():
        if count > settings.deals:
            note(f"{name}: {settings.deals} deals as all rows get, and not its {count} (deals_of)")
    records = play_all(matches, settings, work, settings.deals_of, settings.launcher)
    paired = differences(records, settings.differences)
    result = {"name": settings.name, **as_rows(records), "differences": paired}
    if settings.move_time:
        first = {name: players[one] for name, (one, _) in settings.matches.items()}
        result["milliseconds"] = {name: move_milliseconds(made) for name, made in first.items()}
    return result


def move_milliseconds(player: Player) -> float:
    """The median time of one decision alone, as somebody at the table waits for it, in fixed
    positions; on this machine and under the load that it has."""
    _, views, keys, _ = fixed_positions()
    decisions = [
        (jax.tree.map(lambda leaf, i=i: leaf[i], views), keys[i]) for i in range(len(keys))
    ]
    player.act(*decisions[0])  # compiles
    times = []
    for decision in decisions:
        start = time.perf_counter()
        player.act(*decision)
        times.append(1000 * (time.perf_counter() - start))
    return float(np.median(times))


def run_other(
    name: str, chosen: Mapping[str, Any], settings: PlaySettings, work: Workplace
) -> Result:
    """A comparison of another experiment: its players, matches and differences, on the deals of its
    settings."""
    play = {key: getattr(settings, key) for key in SHARED}
    return run(changed_settings("compare", {**play, "name": name, **chosen}, where=name), work)


def draw(result: Result, folder: Path) -> None:
    """Comparisons whose section has a picture get one."""
    for file, caption in TEXTS.get(result["name"], {}).get("pictures", {}).items():
        if times := result.get("milliseconds"):
            plot_over_time(result["rows"], times, caption, folder / file)
        else:
            plot_points(result["rows"], caption, folder / file)


main = experiment("compare", CompareSettings, run, draw)

if __name__ == "__main__":
    raise SystemExit(main())
