"""The command that trains the belief: what it writes, and that it goes on after a stop."""

import importlib
import json
from dataclasses import MISSING, fields
from pathlib import Path

import jax
import numpy as np
import pytest

from experiments import export_weights, train_belief, train_opponent_model, training_report
from experiments.common import mixture
from experiments.common.cli import compose
from experiments.common.tracking import read_log
from gongzhu_jax.checkpoint import BEST, LAST, Checkpoints
from gongzhu_jax.mixture_training import MixtureTrainingConfig
from gongzhu_jax.network.weights import about_weights, load_weights, weights_digest
from gongzhu_jax.opponents import card_belief, opponent_model

TABLES = (
    *(
        "training.mixture={random:0,greed:0,policy:0,policy@onehot:0,raw:0,raw@five:0,if:1}",
        "held_out=random",
        "held_out_games=16",
        "training.games=16",
        "training.window=128",
    ),
    *(
        "schedule.checkpoint_every=2",
        "schedule.evaluate_every=4",
        "training.average=0.8",
        "chunk=null",
    ),
    *("training.minibatch=64", "training.positions=8", "network.reader=16", "network.width=16"),
)
SMALL = (*TABLES, "network.blocks=1")


@pytest.mark.parametrize(
    "name", ["train_belief", "train_opponent_model", "train_critic", "train_distilled"]
)
def test_files_and_defaults_cannot_disagree(name: str) -> None:
    """What the file of a training says has no other value in the dataclass; options and random
    plays are none unless a file says so."""
    importlib.import_module(f"experiments.{name}")
    stated = compose(name, []).training
    for field in fields(MixtureTrainingConfig):
        required = field.default is MISSING and field.default_factory is MISSING
        if required and field.name != "network":
            assert field.name in stated
        elif field.name in stated and field.name not in ("options", "random_play"):
            assert stated[field.name] == field.default


def test_players_with_a_label_are_settings_as_others() -> None:
    """Hydra by itself takes a key with an @ for a config group."""
    words = ["training.mixture.raw@five=0", "training.options.raw@five.scenarios.draws=7"]
    words += ["training.options.raw@old={checkpoint: runs/old}", "training.mixture.greed=0.4"]
    training = compose("train_belief", words).training
    usual = compose("train_belief", []).training
    assert training.mixture == {**usual.mixture, "raw@five": 0, "greed": 0.4}
    changed = {"raw@five": {"scenarios": {"draws": 7}}, "raw@old": {"checkpoint": "runs/old"}}
    assert training.options == {**usual.options, **changed}


def run(directory: Path, *changes: str) -> int:
    return train_belief.main([f"directory={directory}", *SMALL, *changes])


def digest(directory: Path, epoch: int) -> str:
    return Checkpoints(directory).about(LAST, epoch)["digests"]["state"]


SHORT = ("training.epochs=4", "training.updates=2", "held_out_games=0")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run from its start to its end."""
    directory = tmp_path_factory.mktemp("whole")
    assert run(directory, *SHORT) == 0
    return directory


def test_writes_and_resumes(whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = read_log(whole / "log.jsonl")
    assert [row["epoch"] for row in rows] == [1, 2, 3, 4]
    config, params = load_weights(whole, card_belief.KIND)
    assert config.width == 16
    assert np.isfinite(np.asarray(params["params"]["odds"]["bias"])).all()

    # The same in two stretches.
    halves = tmp_path / "halves"
    real = mixture.run_epochs

    def stop_after_two(config, start, run_epoch, *args, **options):
        seen = []
        options["should_stop"] = lambda: len(seen) == 2

        def counted(state):
            seen.append(1)
            return run_epoch(state)

        return real(config, start, counted, *args, **options)

    monkeypatch.setattr(mixture, "run_epochs", stop_after_two)
    assert run(halves, *SHORT) == 0
    assert Checkpoints(halves).epochs(LAST)[-1] == 2
    monkeypatch.setattr(mixture, "run_epochs", real)
    assert run(halves, *SHORT) == 0
    assert digest(halves, 4) == digest(whole, 4)
    assert len(read_log(halves / "log.jsonl")) == 4


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("held_out=if", "'if' is in the mixture"),
        ("training.window=100", "multiple of the games per epoch"),
        ("training.mixture.if=-1", "shares of the mixture"),
        ("training.minibatch=72", "do not divide over"),
        ("held_out=null", "there is none"),
    ],
)
def test_bad_settings(tmp_path: Path, capsys, change: str, message: str) -> None:
    assert run(tmp_path, change) == 2
    assert message in capsys.readouterr().err
    assert not list(tmp_path.glob("last/*"))


def test_bad_settings_are_known_before_any_game(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(mixture, "play_mixture", None)
    assert run(tmp_path, "training.window=100") == 2


def test_starts_from_a_weights_file(
    whole: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "first.safetensors"
    exported = [f"checkpoint={whole / 'last' / '4'}", "kind=belief", "dtype=float32"]
    assert export_weights.main([*exported, f"output={file}"]) == 0
    more = (
        "training.epochs=1",
        "training.updates=1",
        "training.learning_rate=1e-9",
        "training.final_learning_rate=1e-9",
    )
    assert run(tmp_path / "more", *more, f"start={file}") == 0
    # With such a rate nothing is learnt, so the parameters are those it started from.
    jax.tree.map(
        lambda a, b: np.testing.assert_allclose(a, b, atol=1e-6),
        load_weights(file, card_belief.KIND)[1],
        load_weights(tmp_path / "more", card_belief.KIND)[1],
    )
    assert Checkpoints(tmp_path / "more").about(LAST, 1)["start"]["games"] == 4 * 16
    # What it started from is measured too, and is not taken for something that was learnt.
    first, last = read_log(tmp_path / "more" / "log.jsonl")
    assert (first["epoch"], first["games"], first["seconds"]) == (0, 0, 0)
    assert first["gain"] == pytest.approx(last["gain"], abs=1e-5) != 0
    told = capsys.readouterr().err
    assert "starts with gain" in told
    assert "after epoch 1, the one that players load" in told
    assert Checkpoints(tmp_path / "more").epochs(BEST) == [1]
    assert run(tmp_path / "other", *more, f"start={file}", "network.width=8") == 2
    assert "has the network" in capsys.readouterr().err

    # A curve that goes on from another one has one point where they meet.
    about = Checkpoints(tmp_path / "more").about(LAST, 1)
    met = {"epoch": 4, "games": 64, "hours": 0.5, "gain": first["gain"]}
    ran = {f"run_{name}": about[name] for name in ("command", "config", "commit")}
    after = {**ran, "games": 64, "hours": 0.5, "points": [met]}
    result = training_report.summarise(tmp_path / "more", after, "gain", card_belief.KIND)
    assert [point["games"] for point in result["points"]] == [64, 80]


@pytest.mark.slow
def test_log_is_json(tmp_path: Path) -> None:
    assert (
        run(tmp_path, "training.epochs=1", "training.updates=1", "schedule.evaluate_every=1") == 0
    )
    (line,) = (tmp_path / "log.jsonl").read_text().splitlines()
    row = json.loads(line)
    assert row["games"] == 16
    # Untrained, it knows as little as uniform.
    assert abs(row["gain"]) < 0.1
    assert row["gain_stderr"] > 0


def test_opponent_model(tmp_path: Path, places: Path) -> None:
    run_model = [f"directory={tmp_path}", *TABLES, "network.player_types=1", "network.rank=4"]
    assert (
        train_opponent_model.main(
            [*run_model, "training.epochs=2", "training.updates=3", "schedule.evaluate_every=2"]
        )
        == 0
    )
    row = read_log(tmp_path / "log.jsonl")[-1]
    assert abs(row["gain"]) < 1
    config, params = load_weights(tmp_path, opponent_model.KIND)
    assert (config.player_types, config.rank) == (1, 4)
    assert np.isfinite(np.asarray(params["params"]["summary"]["bias"])).all()
    file = tmp_path / "model.safetensors"
    exported = [f"checkpoint={tmp_path / 'last' / '2'}", "kind=opponent_model", f"output={file}"]
    log = (tmp_path / "log.jsonl").rename(tmp_path / "log")  # it may lie elsewhere
    assert export_weights.main(exported) == 0
    log.rename(tmp_path / "log.jsonl")
    assert load_weights(file, opponent_model.KIND)[0] == config
    assert about_weights(file)["games"] == row["games"]
    assert about_weights(file)["hours"] == pytest.approx(row["seconds"] / 3600)

    # What it measured is kept as a result, with a picture; what it did not is an error.
    assert training_report.main([f"directory={tmp_path}", "kind=opponent_model"]) == 2
    assert not list((places / "runs").glob("*.png"))
    reported = [f"directory={tmp_path}", "name=measured", "kind=opponent_model", "score=gain"]
    assert training_report.main(reported) == 0
    result = json.loads((places / "runs" / "measured.json").read_text())["result"]
    (point,) = result["points"]
    assert (point["games"], point["gain"]) == (row["games"], row["gain"])
    assert result["weights"] == weights_digest(file)
    assert (places / "runs" / "measured.png").is_file()
