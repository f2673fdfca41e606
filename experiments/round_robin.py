"""Every player against every other on the same deals, and the paper's epsilon.

    python -m experiments.round_robin deals=1024
    python -m experiments.round_robin players=[random,if,greed,raw,scrofa-simple,scrofa]
    python -m experiments.round_robin players=[greed,few] options.few='{player: greed, samples: 5}'

Finished matches are kept, so that a run that was stopped goes on. The result has: players; matrix
[player][player] of the mean points of the first over the second and its standard_errors; epsilon
(0 transitive, 1 intransitive) with epsilon_sd from a bootstrap over deals, null for two players;
deals, rotations, seconds (of play), interrupted.
"""

import sys
from itertools import combinations

import numpy as np

from experiments.cli import INTERRUPTED, command, finish
from experiments.comparison import Comparison, Pairing, compare
from experiments.results import print_table
from experiments.settings import RoundRobinSettings
from gongzhu_jax import players
from gongzhu_jax.errors import ConfigError
from gongzhu_jax.evaluation import RoundRobinResult
from gongzhu_jax.players.protocol import Player

PAPER = {  # points of the first over the second; SZS is scrofa-simple
    ("if", "random"): "194.0 ± 3.6",
    ("greed", "random"): "275.2 ± 5.3",
    ("greed", "if"): "80.3 ± 5.7",
    ("scrofa-simple", "random"): "319 ± 16",
    ("scrofa-simple", "if"): "127 ± 8",
    ("scrofa-simple", "greed"): "60 ± 5",
}
PAPER_EPSILON = "0.03 ± 0.02"


@command("round_robin", RoundRobinSettings)
def main(settings: RoundRobinSettings, line: str) -> int:
    made = named_players(settings)
    if len(made) < 2:
        raise ConfigError(f"a round robin needs at least two players, not {len(made)}")
    pairs = list(combinations(made, 2))
    comparison = compare(
        [Pairing(f"{one}-{other}", made[one], made[other]) for one, other in pairs], settings
    )
    if comparison.interrupted:
        done = f"{len(comparison.rows)} of {len(pairs)} matches are finished and kept"
        print(f"interrupted: {done}; the same command goes on from there", file=sys.stderr)
        return INTERRUPTED
    result = gather(tuple(made), comparison)
    print_table("row over column, points per deal", rows(result))
    summary = result.summary()
    if summary["epsilon"] is not None:
        print(f"epsilon {result.epsilon:.3f} +- {result.epsilon_sd:.3f}")
    return finish("round_robin", summary, settings, line)


def gather(names: tuple[str, ...], comparison: Comparison) -> RoundRobinResult:
    """The matches of all pairs of `names` as one result."""
    deals = len(next(iter(comparison.margins.values())))
    margins = np.zeros((len(names), len(names), deals))
    for (i, one), (j, other) in combinations(enumerate(names), 2):
        margins[i, j] = comparison.margins[f"{one}-{other}"]
        margins[j, i] = -margins[i, j]
    matches = comparison.rows.values()
    return RoundRobinResult(
        names=names,
        margins=margins,
        rotations=next(iter(matches))["rotations"],
        seconds=sum(match["seconds"] for match in matches),
        interrupted=False,
    )


def named_players(settings: RoundRobinSettings) -> dict[str, Player]:
    """The players by their names in this round robin, which `options` may give a meaning."""
    if len(set(settings.players)) < len(settings.players):
        raise ConfigError(f"a player is named twice in {settings.players}")
    for name in settings.options:
        if name not in settings.players:
            raise ConfigError(f"options of {name!r}, who is not among the players")
    found = {}
    for name in settings.players:
        options = dict(settings.options.get(name, {}))
        found[name] = players.make(options.pop("player", name), **options)
    return found


def rows(result: RoundRobinResult) -> list[dict[str, str]]:
    """The matrix as lines of a table."""
    errors = result.standard_errors
    return [
        {"what": name}
        | {
            other: "" if i == j else f"{result.matrix[i, j]:.1f} +- {errors[i, j]:.1f}"
            for j, other in enumerate(result.names)
        }
        for i, name in enumerate(result.names)
    ]


if __name__ == "__main__":
    sys.exit(main())
