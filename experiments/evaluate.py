"""One player against another, two against two, on duplicate deals.

    python -m experiments.evaluate player=greed opponent=if deals=1024 seed=0
    python -m experiments.evaluate player=greed player_options.samples=40 set=deals.jsonl

The match becomes a record; with `records` all games are written to a file, and the match is played
for it even if it is on record; with `profile` its first batch is played once more, for a trace. The
result has one row, what the record says of the match.
"""

import sys
from dataclasses import dataclass, field
from typing import Any

import jax

from experiments.common.cli import Result, experiment
from experiments.common.progress import progress
from experiments.common.results import Workplace
from experiments.common.settings import PlaySettings, check_file, check_run_folder
from experiments.compare import Pairing, play_all
from gongzhu_jax import players, records
from gongzhu_jax.evaluation import play_match
from gongzhu_jax.evaluation.match_records import Recorder
from gongzhu_jax.evaluation.matches import match_seating


@dataclass(frozen=True, kw_only=True)
class EvaluateSettings(PlaySettings):
    player: str  # a player by name, or module:function for your own
    opponent: str  # the same for the other team
    player_options: dict[str, Any] = field(default_factory=dict)
    opponent_options: dict[str, Any] = field(
        default_factory=dict
    )  # options of the opponent, as player_options
    records: str | None
    profile: str | None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.profile is not None:
            check_run_folder(self.profile, "profile")
        check_file(self.records, "records", (".jsonl", ".gz"))


def run(settings: EvaluateSettings, work: Workplace, recorder: Recorder | None = None) -> Result:
    player = players.make(settings.player, **settings.player_options)
    opponent = players.make(settings.opponent, **settings.opponent_options)
    title = f"{player.name} over {opponent.name}"
    if settings.records is not None:
        deals = settings.choose_deals().deals
        with progress("games for the file") as on_progress:
            match = play_match(
                player,
                opponent,
                deals,
                keep_states=True,
                on_progress=on_progress,
                **settings.seating_options(),
            )
        records.write(settings.records, match.seating.records())
    if settings.profile is not None:
        seating = match_seating(player, opponent, **settings.seating_options())
        seating.compile()
        with jax.profiler.trace(settings.profile):
            seating.play(settings.choose_deals().deals.part(0, seating.batch))
    pairing = Pairing(title, player, opponent, settings.deals)
    record = play_all([pairing], settings, recorder or work.recorder())[title]
    name = f"match-{player.name}-{opponent.name}"
    return {"name": name, "rows": {title: record.summary()}, "differences": {}}


main = experiment("evaluate", EvaluateSettings, run)

if __name__ == "__main__":
    sys.exit(main())
