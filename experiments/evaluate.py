"""One player against another, two against two, on duplicate deals.

    python -m experiments.evaluate player=greed opponent=if deals=1024 seed=0
    python -m experiments.evaluate player=greed player_options.samples=40 set=final

The result has: players; mean, standard_error and interval_95 of the points of the first team minus
those of the second per deal; win_rate and draw_rate by deal; deals, rotations, games, seconds (of
play), games_per_second, interrupted.
"""

import sys

from experiments.cli import command, finish
from experiments.progress import progress
from experiments.results import print_table
from experiments.settings import EvaluateSettings
from gongzhu_jax import players, records
from gongzhu_jax.evaluation import MatchResult, play_match


@command("evaluate", EvaluateSettings)
def main(settings: EvaluateSettings, line: str) -> int:
    player = players.make(settings.player, **settings.player_options)
    opponent = players.make(settings.opponent, **settings.opponent_options)
    title = f"{player.name} against {opponent.name}"
    with progress(title) as on_progress:
        result = play_match(
            player,
            opponent,
            settings.draw_deals(),
            keep_states=settings.records is not None,
            on_progress=on_progress,
            **settings.seating_options(),
        )
    print_table(title, [row(result)])
    if settings.records is not None:
        records.write(settings.records, result.seating.records())
    name = f"match-{player.name}-{opponent.name}"
    return finish(name, result.summary(), settings, line)


def row(result: MatchResult) -> dict[str, str]:
    """A match as a line of a table."""
    low, high = result.interval
    return {
        "points": f"{result.mean:.1f} +- {result.standard_error:.1f}",
        "95 % interval": f"{low:.1f} to {high:.1f}",
        "won": f"{result.win_rate:.1%}",
        "drawn": f"{result.draw_rate:.1%}",
        "deals": f"{result.estimate.count} x {result.seating.points.shape[1]}",
        "games/s": f"{result.seating.games_per_second:.0f}",
    }


if __name__ == "__main__":
    sys.exit(main())
