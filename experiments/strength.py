"""How strong our players are: each over two Mr. Greeds, and some against each other.

    python -m experiments.strength                        # development deals, to choose settings
    python -m experiments.strength rows=belief set=final deals=2048   # the published figures

All rows are played on the same deals. The result has `rows` by name ("scrofa" over Mr. Greed,
"scrofa - scrofa-simple" for one against the other), each with what `experiments.evaluate` says of
a match; and `differences`, by the names of two rows: the first minus the second, paired by deal.
Settings of a player that has other than its usual ones are in `options`.
"""

import sys
from dataclasses import dataclass, field
from typing import Any

from experiments.cli import command, finish
from experiments.comparison import Pairing, compare
from experiments.results import points, print_table
from experiments.settings import PlaySettings
from gongzhu_jax import players
from gongzhu_jax.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class StrengthSettings(PlaySettings):
    players: list[str]
    options: dict[str, dict[str, Any]] = field(default_factory=dict)
    against: list[list[str]] = field(default_factory=list)
    paired: list[list[str]] = field(default_factory=list)
    deals_of: dict[str, int] = field(default_factory=dict)
    opponent: str
    checkpoint: str | None

    def __post_init__(self) -> None:
        super().__post_init__()
        if any(len(pair) != 2 for pair in (*self.against, *self.paired)):
            raise ConfigError("against and paired are lists of pairs")
        named = [name for pair in self.paired for name in pair]
        for name in (*named, *self.deals_of):
            if name not in self.rows:
                raise ConfigError(f"there is no row {name!r}; there are {', '.join(self.rows)}")
        if any(not 0 < count <= self.deals for count in self.deals_of.values()):
            raise ConfigError(f"deals_of must lie in 1..{self.deals}, the number of deals")

    @property
    def rows(self) -> list[str]:
        """Names of all matches."""
        return [*self.players, *(f"{a} - {b}" for a, b in self.against)]


def make_player(settings: StrengthSettings, name: str) -> players.Player:
    """The player of that name, or of `name@label` with options of its own."""
    kind = name.split("@")[0]
    options = dict(settings.options.get(name, {}))
    if settings.checkpoint is not None and "checkpoint" in players.option_names(kind):
        options.setdefault("checkpoint", settings.checkpoint)
    return players.make(kind, **options)


@command("strength", StrengthSettings)
def main(settings: StrengthSettings, line: str) -> int:
    wanted = {*settings.players, *(name for pair in settings.against for name in pair)}
    made = {name: make_player(settings, name) for name in sorted(wanted)}
    opponent = make_player(settings, settings.opponent)
    pairs = [(made[name], opponent) for name in settings.players]
    pairs += [(made[a], made[b]) for a, b in settings.against]
    pairings = [
        Pairing(name, *pair, settings.deals_of.get(name))
        for name, pair in zip(settings.rows, pairs, strict=True)
    ]
    comparison = compare(pairings, settings)
    rows = comparison.rows
    print_table(
        f"points over two of {settings.opponent}, or of the first over the second",
        [
            {
                "player": name,
                "points": points(row),
                "won (+drawn)": f"{row['win_rate']:.1%} (+{row['draw_rate']:.1%})",
                "games/s": f"{row['games_per_second']:.1f}",
            }
            for name, row in rows.items()
        ],
    )
    differences = {
        f"({a}) - ({b})": comparison.difference(a, b).summary()
        for a, b in settings.paired
        if a in rows and b in rows
    }
    for name, found in differences.items():
        print(f"{name}, by deal: {points(found)}")
    result = {"rows": rows, "differences": differences, "interrupted": comparison.interrupted}
    return finish("strength", result, settings, line)


if __name__ == "__main__":
    sys.exit(main())
