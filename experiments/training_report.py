"""Keeps the curve of a training run as a result: `python -m experiments.training_report`.

    python -m experiments.training_report directory=runs/compact name=training_compact

The result has the run's own command, configuration and commit, `points` (epoch, games, hours, wpg,
wpg_stderr of the raw network on the first development deals) and the totals, and is drawn as
training_curve.png. Networks that learn from games of a mixture of players are reported in the same
way, with a picture NAME.png:

    kind=belief score=gain, or kind=opponent_model score=gain: points have `gain` in place of WPG
    kind=distilled_policy: points have the regret too

`weights` is the digest of a weights file of the last checkpoint, so that one sees whether a run
ends with the parameters of the package. With `after`, a result of this command, the curve of the
run that this one started from comes first: games and hours are those of both.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.common.cli import command
from experiments.common.progress import as_lines, print_table
from experiments.common.results import PLACES, Workplace, read_result
from experiments.common.settings import KeptSettings
from experiments.common.tracking import LOG_NAME, curve_points, read_log
from experiments.common.training_plots import plot_mixture_training, plot_training
from experiments.export_weights import KINDS
from gongzhu_jax.checkpoint import LAST, Checkpoints, digest
from gongzhu_jax.errors import CheckpointError, ConfigError, check_choice
from gongzhu_jax.network.weights import NetworkKind, as_stored, load_weights

SCORES = ("wpg", "gain")
"""What runs measure: points over Mr. Greed, and nats better than uniform."""
RUN = ("run_command", "run_commit", "run_config", "games", "hours")
"""What is said of a run beside its curve."""


@dataclass(frozen=True, kw_only=True)
class ReportSettings(KeptSettings):
    directory: str
    name: str
    after: str | None
    score: str
    kind: str

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("score", self.score, SCORES)
        check_choice("kind", self.kind, tuple(KINDS))


def summarise(
    directory: Path, after: dict[str, Any] | None, score: str, kind: NetworkKind
) -> dict[str, Any]:
    """The run in a folder, so far; `after`: what this says of the run that it started from."""
    run = Checkpoints(directory)
    epochs = run.epochs(LAST)
    if not epochs:
        raise CheckpointError(f"there is no checkpoint in {directory}")
    about = run.about(LAST, epochs[-1])
    start = about.get("start")
    if start is None and after is not None:
        raise ConfigError(f"the run in {directory} started from nothing, so there is no `after`")
    if start is not None and after is None:
        raise ConfigError(f"the run in {directory} started from weights: name their `after`")
    if start is not None and after is not None and start["commit"] != after["run_commit"]:
        raise ConfigError(f"the run in {directory} did not start from the run of `after`")
    before = after or {"games": 0, "hours": 0.0, "points": []}
    _, params = load_weights(directory / LAST / str(epochs[-1]), kind)
    # The first row of a run that started from another says what the last one of the other said.
    first = 1 if after else 0
    rows = [row for row in read_log(directory / LOG_NAME) if first <= row["epoch"] <= epochs[-1]]
    points = before["points"] + [
        point | {name: point[name] + before[name] for name in ("games", "hours")}
        for point in curve_points(rows, score)
    ]
    if not points:
        raise ConfigError(f"the run in {directory} has not measured {score}")
    return {
        "run_command": about["command"],
        "run_commit": about["commit"],
        "run_config": about["config"],
        "games": rows[-1]["games"] + before["games"],
        "hours": rows[-1]["seconds"] / 3600 + before["hours"],
        "points": points,
        "weights": digest(as_stored(params)),
        "after": {name: after[name] for name in RUN} if after else None,
    }


@command("training_report", ReportSettings)
def main(settings: ReportSettings, line: str) -> None:
    work = Workplace(line, settings.publish, settings.allow_changes)
    work.check()
    directory, after = Path(settings.directory), None
    if settings.after is not None:
        paths = (folder / f"{settings.after}.json" for folder in (work.folder, PLACES.results))
        after = next((kept["result"] for path in paths if (kept := read_result(path))), None)
        if after is None:
            raise ConfigError(f"there is no result {settings.after}.json")
    result = summarise(directory, after, settings.score, KINDS[settings.kind])
    title = f"{result['games']} games in {result['hours']:.2f} hours"
    print_table(title, as_lines(result["points"]))
    work.write(settings.name, result, settings)
    if "mixture" in result["run_config"]:
        plot_mixture_training(result["points"], work.pictures / f"{settings.name}.png")
    else:
        rows = read_log(directory / LOG_NAME)
        plot_training(result["points"], rows, work.pictures / "training_curve.png")


if __name__ == "__main__":
    raise SystemExit(main())
