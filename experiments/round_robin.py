"""Every player against every other on the same deals, and the paper's epsilon.

    python -m experiments.round_robin players=[random,if,greed] deals=1024
    python -m experiments.round_robin players=[greed,few] options.few='{player: greed, samples: 5}'

The result has: players; matrix [player][player] of the mean points of the first over the second
and its standard_errors; epsilon (0 transitive, 1 intransitive) with epsilon_sd from a bootstrap
over deals, null for two players; deals, rotations, seconds (of play), interrupted.
"""

import sys

from experiments.cli import command, finish
from experiments.progress import progress
from experiments.results import print_table
from experiments.settings import RoundRobinSettings
from gongzhu_jax import players
from gongzhu_jax.errors import ConfigError
from gongzhu_jax.evaluation import RoundRobinResult, play_round_robin
from gongzhu_jax.players.protocol import Player


@command("round_robin", RoundRobinSettings)
def main(settings: RoundRobinSettings, line: str) -> int:
    with progress("round robin") as on_progress:
        result = play_round_robin(
            named_players(settings),
            settings.draw_deals(),
            on_progress=on_progress,
            **settings.table_options(),
        )
    print_table("row over column, points per deal", rows(result))
    summary = result.summary()
    if summary["epsilon"] is not None:
        print(f"epsilon {result.epsilon:.3f} +- {result.epsilon_sd:.3f}")
    return finish("round_robin", summary, settings, line)


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
