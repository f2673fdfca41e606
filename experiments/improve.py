"""Rounds of learning from play between players who do not see each other's hands.

    python -m experiments.improve rounds=3 directory=runs/improve

A round trains, one after the other, the networks of `scrofa-strong` and the distilled policy, each
but the opponent model starting from its last version, and playing with the newest version of the
others:

    critic           what positions are worth among such players    (experiments.train_critic)
    distilled        what they would do, in one forward pass        (experiments.train_distilled)
    belief           who holds what, from games with the new players
    opponent_model   who plays how, from games with the new players

Then the new `scrofa-strong` plays the one of the last round, and both play Mr. Greed, on
development deals. Every stage has a folder of its own, where it stops and goes on as any training
does; a stage whose weights file is written is finished. So the same command goes on where it was
stopped, and more rounds can be asked for later.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from experiments import compare, train_belief, train_critic, train_distilled, train_opponent_model
from experiments.common.cli import Result, changed_settings, experiment
from experiments.common.mixture import MixtureSettings
from experiments.common.progress import note
from experiments.common.results import Workplace
from experiments.common.settings import PlaySettings, at_least, check_run_folder
from experiments.export_weights import export
from gongzhu_jax.errors import ConfigError
from gongzhu_jax.network import weights


@dataclass(frozen=True)
class Stage:
    """How one network is trained."""

    command: str
    train: Callable[[Any, str], None]
    kind: str  # of network, as weights files name it
    shipped: Path | None  # weights of round 0, if there are any

    def changed(self, changes: Mapping[str, Any], where: str) -> MixtureSettings:
        """The settings of the command with these changes, which the setting `where` has."""
        return changed_settings(self.command, changes, where=where)


def _stage(module: Any, kind: str, name: str = "") -> Stage:
    network = weights.KINDS[kind]
    path = network.named.get(name, network.shipped)
    command = module.__name__.rpartition(".")[2]
    return Stage(command, module.train, kind, path if path.is_file() else None)


STAGES: Mapping[str, Stage] = {
    "critic": _stage(train_critic, "policy_value", weights.CRITIC),
    "distilled": _stage(train_distilled, "distilled_policy"),
    "belief": _stage(train_belief, "belief"),
    "opponent_model": _stage(train_opponent_model, "opponent_model"),
}

Weights = Mapping[str, str | None]
"""Stage to the weights file of its network; None: there is none yet."""


@dataclass(frozen=True, kw_only=True)
class ImproveSettings(PlaySettings):
    directory: str
    rounds: int = field(metadata=at_least(1))
    stages: dict[str, dict[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_run_folder(self.directory)
        for name in self.stages:
            if name not in STAGES:
                raise ConfigError(f"unknown stage {name!r}; there are {', '.join(STAGES)}")


def file_of(settings: ImproveSettings, number: int, stage: str) -> Path:
    """The weights file that a stage of a round ends with."""
    return Path(settings.directory) / f"round-{number}" / f"{stage}{weights.SUFFIX}"


def newest(settings: ImproveSettings, number: int, before: str | None = None) -> Weights:
    """The newest weights of all networks when `before` begins in round `number`, or at its end."""
    order = list(settings.stages)
    done = order if before is None else order[: order.index(before)]
    files: dict[str, str | None] = {}
    for name, stage in STAGES.items():
        last = number if name in done else number - 1
        trained = name in order and last > 0
        path = file_of(settings, last, name) if trained else stage.shipped
        files[name] = None if path is None else str(path)
    return files


def settings_of(settings: ImproveSettings, number: int, name: str) -> MixtureSettings:
    """The settings of a stage: those of its own command, with the changes of `stages`, in which
    {critic}, {belief} and so on stand for the newest weights of that network."""
    changes = _filled_in(settings.stages[name], newest(settings, number, before=name))
    directory = str(file_of(settings, number, name).with_suffix(""))
    return STAGES[name].changed({**changes, "directory": directory}, f"stages.{name}")


def _filled_in(tree: Any, files: Weights) -> Any:
    if isinstance(tree, Mapping):
        return {key: _filled_in(value, files) for key, value in tree.items()}
    if not (isinstance(tree, str) and tree.startswith("{") and tree.endswith("}")):
        return tree
    if tree[1:-1] not in files:
        raise ConfigError(f"there are no weights {tree}; there are {', '.join(files)}")
    return files[tree[1:-1]]


def train_network(stage: Stage, settings: MixtureSettings, output: Path, line: str) -> None:
    """Trains a network and writes its weights file, unless that is there; `KeyboardInterrupt` if
    the training was stopped before its end."""
    if output.is_file():
        note(f"{output} is there already")
        return
    epochs = settings.training["epochs"]
    note(f"{output}: {epochs} epochs")
    stage.train(settings, line)
    checkpoint = Path(settings.directory) / "last" / str(epochs)
    if not checkpoint.is_dir():
        raise KeyboardInterrupt(f"{output} is not finished")
    export(checkpoint, (), stage.kind, output, "float16", line)


def play_round(settings: ImproveSettings, number: int, work: Workplace) -> Result:
    """The new player over the last one, and both over Mr. Greed, on the same deals."""
    new, last = f"round {number}", f"round {number - 1}"
    players = {f"scrofa-strong@{n}": networks(settings, n) for n in (number - 1, number)}
    one, other = f"scrofa-strong@{number}", f"scrofa-strong@{number - 1}"
    matches = {last: [other, "greed"], new: [one, "greed"], f"{new} over {last}": [one, other]}
    chosen = {"players": players, "matches": matches, "differences": [[new, last]]}
    return compare.run_other("improve", chosen, settings, work)


def networks(settings: ImproveSettings, number: int) -> dict[str, str]:
    """The options of `scrofa-strong` with the weights of a round."""
    files = newest(settings, number)
    named = {"checkpoint": "critic", "belief": "belief", "opponent_model": "opponent_model"}
    return {option: path for option, stage in named.items() if (path := files[stage])}


def run(settings: ImproveSettings, work: Workplace) -> Result:
    played: Result = {"name": "improve", "rows": {}, "differences": {}}
    for number in range(1, settings.rounds + 1):
        for name in settings.stages:
            chosen, output = settings_of(settings, number, name), file_of(settings, number, name)
            train_network(STAGES[name], chosen, output, work.command)
        result = play_round(settings, number, work)
        for part in ("rows", "differences"):
            played[part] |= result[part]
    return played


main = experiment("improve", ImproveSettings, run)

if __name__ == "__main__":
    raise SystemExit(main())
