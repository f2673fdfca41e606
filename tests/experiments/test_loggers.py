"""Weights & Biases and MLflow, offline: the numbers of a run arrive, and a resumed run goes on
in the run that it began."""

import json
from pathlib import Path

import pytest

from experiments.common import loggers
from experiments.common.loggers import IDS, check_loggers, start_loggers
from experiments.common.tracking import RunLog, epoch_line, read_log, run_summary
from gongzhu_jax.errors import ConfigError, MissingExtraError

ROWS = [
    {"epoch": 1, "games": 16, "seconds": 30.0, "policy_loss": 2.5},
    {"epoch": 2, "games": 32, "seconds": 65.0, "policy_loss": 2.0, "wpg": -9.0, "wpg_stderr": 4.0},
    {"epoch": 3, "games": 48, "seconds": 95.0, "policy_loss": 1.5, "wpg": -20.0, "wpg_stderr": 4.0},
]
CONFIG = {"epochs": 4, "network": {"width": 8}}


def log_in_two_stretches(name: str, folder: Path) -> None:
    for start, rows in ((0, ROWS[:2]), (2, ROWS[2:])):
        started = start_loggers([name], folder, CONFIG)
        with RunLog(folder, start, started) as log:
            for row in rows:
                log.write(row)
    assert read_log(folder / "log.jsonl") == ROWS


@pytest.mark.filterwarnings("ignore")  # of packages that we do not import otherwise
def test_mlflow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", (tmp_path / "mlruns").as_uri())
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    log_in_two_stretches("mlflow", tmp_path)
    from mlflow import MlflowClient

    client = MlflowClient()
    run_id = json.loads((tmp_path / IDS).read_text())["mlflow"]
    history = client.get_metric_history(run_id, "policy_loss")
    assert [(point.step, point.value) for point in history] == [(1, 2.5), (2, 2.0), (3, 1.5)]
    run = client.get_run(run_id)
    assert run.data.params == {"epochs": "4", "network.width": "8"}
    assert run.info.status == "FINISHED"


@pytest.mark.filterwarnings("ignore")
def test_wandb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_SILENT", "true")
    log_in_two_stretches("wandb", tmp_path)
    run_id = json.loads((tmp_path / IDS).read_text())["wandb"]
    runs = sorted((tmp_path / "wandb").glob(f"offline-run-*-{run_id}"))
    assert runs  # both stretches have one name, under which `wandb sync` puts them together
    stored = b"".join(path.read_bytes() for run in runs for path in run.glob("*.wandb"))
    assert b"policy_loss" in stored


def test_unknown_and_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match="unknown logger 'neptune'; there are wandb, mlflow"):
        check_loggers(["neptune"])
    with pytest.raises(ConfigError, match="twice"):
        check_loggers(["mlflow", "mlflow"])

    def no_module(name: str) -> None:
        raise ModuleNotFoundError(name=name)

    monkeypatch.setattr(loggers.importlib, "import_module", no_module)
    with pytest.raises(MissingExtraError, match=r"pip install 'gongzhu_jax\[wandb\]'"):
        check_loggers(["wandb"])


def test_summary_at_the_end() -> None:
    first, second, third = run_summary(ROWS, Path("runs/mine"), 4, "wpg")
    assert first == "3 of 4 epochs, 48 games in 1:35 of training"
    assert "best wpg -9.0 +- 4.0, after epoch 2, the one that players load" in second
    assert second.endswith("last -20.0 +- 4.0")
    assert "runs/mine" in third
    row = {**ROWS[1], "seconds": 66.0, "games_per_second": 4.2}
    said = "epoch 2  32 games  1.1 min  4 games/s  policy loss 2.0000  wpg -9.0 +- 4.0"
    assert epoch_line(row, "wpg") == said
    assert len(run_summary(ROWS[:1], Path("runs/mine"), 4, "wpg")) == 2  # nothing was measured
