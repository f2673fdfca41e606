"""One player against another, two against two, on duplicate deals.

    python -m experiments.evaluate player=greed opponent=if deals=1024 seed=0
    python -m experiments.evaluate player=greed player_options.samples=40 set=deals.jsonl

The match becomes a record; with `records` all games are written to a file, and the match is played
for it even if it is on record; with `profile` its first batch is played once more, for a trace. The
result has one row, what the record says of the match.
"""

from dataclasses import dataclass, field
from typing import Any

import jax

from experiments.common.cli import Result, experiment
from experiments.common.positions import games_between
from experiments.common.results import Workplace
from experiments.common.settings import PlaySettings, check_file, check_run_folder
from experiments.compare import as_rows, play_all
from gongzhu_jax import players, records
from gongzhu_jax.evaluation.matches import match_seating


@dataclass(frozen=True, kw_only=True)
class EvaluateSettings(PlaySettings):
    player: str  # a player by name, or module:function for your own
    opponent: str  # the player of the other team, named in the same way
    player_options: dict[str, Any] = field(default_factory=dict)
    # options of the opponent, as player_options
    opponent_options: dict[str, Any] = field(default_factory=dict)
    records: str | None
    profile: str | None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.profile is not None:
            check_run_folder(self.profile, "profile")
        check_file(self.records, "records", (".jsonl", ".gz"))


def run(settings: EvaluateSettings, work: Workplace) -> Result:
    player = players.make(settings.player, **settings.player_options)
    opponent = players.make(settings.opponent, **settings.opponent_options)
    title = f"{player.name} over {opponent.name}"
    if settings.records is not None:
        records.write(settings.records, games_between(player, opponent, settings).records())
    if settings.profile is not None:
        options = settings.seating_options()
        seating = match_seating(player, opponent, **options)
        seating.compile()
        with jax.profiler.trace(settings.profile):
            seating.play(settings.choose_deals().deals.part(0, options["batch"] or settings.deals))
    played = play_all({title: (player, opponent)}, settings, work)
    return {"name": f"match-{player.name}-{opponent.name}", **as_rows(played)}


main = experiment("evaluate", EvaluateSettings, run)

if __name__ == "__main__":
    raise SystemExit(main())
