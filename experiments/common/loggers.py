"""Where else the numbers of a training go: `loggers=[wandb]`, `loggers=[mlflow]`, or both.

JSONL and TensorBoard are always there (`tracking`). These two are extras of the package, and are
set up as their own documentation says, by WANDB_MODE and WANDB_PROJECT or by MLFLOW_TRACKING_URI
and MLFLOW_EXPERIMENT_NAME. A run that is resumed goes on in the run that it began there.
"""

import importlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from experiments.common.cli import flat
from gongzhu_jax.adapters.extras import needs_extra
from gongzhu_jax.errors import ConfigError
from gongzhu_jax.files import write_whole

PROJECT = "gongzhu_jax"
IDS = "loggers.json"
"""File of a run's folder: the name that each logger has given to the run."""


class Logger(Protocol):
    """Takes the rows of a run, one for each epoch."""

    id: str  # by which the logger finds the run again

    def write(self, row: Mapping[str, float]) -> None: ...

    def close(self) -> None: ...


class WandbLogger:
    """Weights & Biases."""

    def __init__(self, directory: Path, config: Mapping[str, Any], run_id: str | None) -> None:
        self._run = importlib.import_module("wandb").init(
            project=os.environ.get("WANDB_PROJECT", PROJECT),
            name=directory.name,
            dir=str(directory),
            config=dict(config),
            id=run_id,
            resume="allow",
        )
        self._run.define_metric("*", step_metric="epoch")  # epochs come twice after a kill
        self.id = self._run.id

    def write(self, row: Mapping[str, float]) -> None:
        self._run.log(dict(row))

    def close(self) -> None:
        self._run.finish()


class MlflowLogger:
    """MLflow."""

    def __init__(self, directory: Path, config: Mapping[str, Any], run_id: str | None) -> None:
        self._client = importlib.import_module("mlflow").MlflowClient()
        if run_id is None:
            name = os.environ.get("MLFLOW_EXPERIMENT_NAME", PROJECT)
            known = self._client.get_experiment_by_name(name)
            experiment = known.experiment_id if known else self._client.create_experiment(name)
            run_id = self._client.create_run(experiment, run_name=directory.name).info.run_id
            for key, value in flat(config):
                self._client.log_param(run_id, key, value)
        self.id: str = run_id

    def write(self, row: Mapping[str, float]) -> None:
        for name, value in row.items():
            if name != "epoch":
                self._client.log_metric(self.id, name, float(value), step=int(row["epoch"]))

    def close(self) -> None:
        self._client.set_terminated(self.id)


LOGGERS: Mapping[str, Callable[..., Logger]] = {"wandb": WandbLogger, "mlflow": MlflowLogger}


def check_loggers(names: Sequence[str]) -> None:
    """Before the work: whether there are such loggers, and whether they are installed.

    Raises:
      ConfigError: unknown, or named twice.
      MissingExtraError: the extra is not installed.
    """
    for name in names:
        if name not in LOGGERS:
            raise ConfigError(f"unknown logger {name!r}; there are {', '.join(LOGGERS)}")
        with needs_extra(name):
            importlib.import_module(name)
    if len(set(names)) < len(names):
        raise ConfigError(f"a logger is named twice in {', '.join(names)}")


def start_loggers(names: Sequence[str], directory: Path, config: Mapping[str, Any]) -> list[Logger]:
    """The loggers of a run, which go on where they were if the run is resumed."""
    path = directory / IDS
    ids = json.loads(path.read_text()) if path.is_file() else {}
    loggers = {name: LOGGERS[name](directory, config, ids.get(name)) for name in names}
    if loggers:
        ids |= {name: logger.id for name, logger in loggers.items()}
        write_whole(path, json.dumps(ids).encode())
    return list(loggers.values())
