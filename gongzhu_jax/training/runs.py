"""Runs of one recipe in one program, which differ in their seeds and in numbers of the recipe.

One run of the paper's recipe, with its 64 games, cannot fill an accelerator; eight can. Every run
has a folder of its own, in which it can be loaded and gone on with as if it had been alone. Axis: R
runs.
"""

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from gongzhu_jax.checkpoint import LAST, Checkpoints
from gongzhu_jax.errors import ConfigError
from gongzhu_jax.network.policy_value import Params
from gongzhu_jax.runtime import on_all
from gongzhu_jax.training.config import TrainingConfig
from gongzhu_jax.training.epoch import TrainState, init_state, run_epoch, state_shardings
from gongzhu_jax.training.loop import EvaluateFn, Schedule, epoch_figures, run_epochs

_PARTS = ("selfplay", "learner")


class Runs(struct.PyTreeNode):
    """The states of all runs, and the numbers in which they differ."""

    states: TrainState  # [R]
    numbers: dict[str, jax.Array]  # [R] each, float32, by their place in the configuration

    @property
    def epoch(self) -> jax.Array:
        return self.states.epoch[0]


def of_seeds(config: TrainingConfig, seeds: Iterable[int]) -> dict[str, TrainingConfig]:
    """Runs that differ in their seeds alone, by name."""
    return {f"seed-{seed}": replace(config, seed=seed) for seed in seeds}


def numbers_of(config: TrainingConfig) -> dict[str, float]:
    """The numbers that may be traced, "learner.learning_rate" and so on: all floats of self-play
    and learning."""
    return {
        f"{part}.{each.name}": getattr(getattr(config, part), each.name)
        for part in _PARTS
        for each in fields(getattr(config, part))
        if each.type is float
    }


def with_numbers(config: TrainingConfig, numbers: Mapping[str, Any]) -> TrainingConfig:
    """`config` with these numbers in the place of its own. They may be traced, and so cannot be
    checked as those of a new configuration would be: they were when their own one was made."""
    changed = copy.copy(config)
    for part in _PARTS:
        settings = copy.copy(getattr(config, part))
        object.__setattr__(changed, part, settings)
        for place, value in numbers.items():
            if place.startswith(f"{part}."):
                object.__setattr__(settings, place.removeprefix(f"{part}."), value)
    return changed


def recipe(config: TrainingConfig) -> TrainingConfig:
    """What runs in one program have in common: equal for all of them."""
    return replace(with_numbers(config, dict.fromkeys(numbers_of(config), 0.0)), seed=0)


def _different_numbers(configs: Sequence[TrainingConfig]) -> dict[str, np.ndarray]:
    """The numbers in which runs differ, [R] each; the others stay constants of the program."""
    if any(recipe(config) != recipe(configs[0]) for config in configs):
        raise ConfigError("runs in one program differ in seeds and numbers only")
    rows = [numbers_of(config) for config in configs]
    values = {place: np.array([row[place] for row in rows], np.float32) for place in rows[0]}
    return {place: row for place, row in values.items() if len(set(row.tolist())) > 1}


def init_runs(configs: Sequence[TrainingConfig], mesh: Mesh, params: Params | None = None) -> Runs:
    """The states before the first epoch; `params` as in `init_state`."""
    numbers = jax.device_put(_different_numbers(configs), on_all(mesh))
    states = [init_state(config, mesh, params) for config in configs]
    return Runs(_stacked(states, _shardings(configs[0], mesh)), numbers)


def _stacked(states: Sequence[TrainState], shardings: Any) -> TrainState:
    return jax.device_put(jax.tree.map(lambda *leaves: jnp.stack(leaves), *states), shardings)


def _shardings(config: TrainingConfig, mesh: Mesh) -> TrainState:
    """Where the states live: as those of one run, all runs everywhere."""
    return jax.tree.map(
        lambda one: NamedSharding(mesh, PartitionSpec(None, *one.spec)),
        state_shardings(config, mesh),
    )


class RunsCheckpoints(Checkpoints):
    """Checkpoints of all runs, each in the folder of its name, as `Checkpoints` of one."""

    def __init__(self, directory: Any, configs: Mapping[str, TrainingConfig], keep: int):
        super().__init__(directory, keep)
        self._runs = [
            (Checkpoints(self.directory / name, keep), asdict(config))
            for name, config in configs.items()
        ]

    def save(self, series: str, epoch: int, state: Runs, params: Params, about: Mapping) -> None:
        for number, (run, config) in enumerate(self._runs):
            one, own = jax.tree.map(lambda leaf, i=number: leaf[i], (state.states, params))
            run.save(series, epoch, one, own, {**about, "config": config})
            if jax.process_count() > 1:  # two writes at once would wait for each other for ever
                run.wait()

    def wait(self) -> None:
        for run, _ in self._runs:
            run.wait()

    def epochs(self, series: str = LAST) -> list[int]:
        """Those that all runs have: a kill may have come between two of them."""
        return sorted(set.intersection(*(set(run.epochs(series)) for run, _ in self._runs)))

    def about(self, series: str, epoch: int) -> dict[str, Any]:
        return self._runs[0][0].about(series, epoch)

    def restore(self, series: str, epoch: int, item: str, like: Runs) -> Runs:
        alone = jax.tree.map(lambda leaf: leaf[0], like.states)
        states = [run.restore(series, epoch, item, alone) for run, _ in self._runs]
        shardings = jax.tree.map(lambda leaf: leaf.sharding, like.states)
        return like.replace(states=_stacked(states, shardings))


def compile_epochs(config: TrainingConfig, mesh: Mesh, at_once: bool | None = None):
    """`runs -> (runs, metrics [R])`; the runs are donated.

    Args:
      config: of any of the runs.
      at_once: whether all runs advance together, as accelerators want it (None there), or one after
        the other, as on CPUs, which one run fills.
    """
    everywhere: Any = on_all(mesh)  # for all numbers
    shardings = Runs(_shardings(config, mesh), everywhere)
    together = jax.default_backend() != "cpu" if at_once is None else at_once

    def one(run: Runs):
        return run_epoch(run.states, with_numbers(config, run.numbers), mesh)

    def epoch(runs: Runs):
        states, metrics = jax.vmap(one)(runs) if together else jax.lax.map(one, runs)
        return runs.replace(states=states), metrics

    return jax.jit(
        epoch, in_shardings=(shardings,), out_shardings=(shardings, None), donate_argnums=0
    )


def train_runs(
    configs: Mapping[str, TrainingConfig],
    mesh: Mesh,
    directory: Any,
    schedule: Schedule,
    params: Params | None = None,
    evaluate: EvaluateFn | None = None,
    keep: int = 2,
    **options: Any,
) -> Runs:
    """Trains runs, by name; other arguments as of `train`, `keep` as of `Checkpoints`.

    Figures are means over the runs, their errors those over the runs, and `figure_of_run(figure,
    name)` is that of one.
    """
    config = next(iter(configs.values()))
    compiled = compile_epochs(config, mesh)

    def epoch(runs: Runs) -> tuple[Runs, Mapping[str, float]]:
        runs, metrics = compiled(runs)
        jax.block_until_ready(runs)
        metrics = jax.device_get(metrics)
        rows = [epoch_figures(config, _of_run(metrics, number)) for number in range(len(configs))]
        return runs, _over_runs(rows, list(configs))

    def evaluate_all(params: Params, epoch: int) -> Mapping[str, float]:
        if evaluate is None:
            raise ValueError("there is nothing to evaluate with")
        rows = [evaluate(_of_run(params, number), epoch) for number in range(len(configs))]
        return _over_runs(rows, list(configs))

    return run_epochs(
        config,
        init_runs(list(configs.values()), mesh, params),
        epoch,
        RunsCheckpoints(directory, configs, keep),
        schedule,
        params_of=lambda runs: runs.states.learner.average,
        evaluate=None if evaluate is None else evaluate_all,
        **options,
    )


def _of_run(tree: Any, number: int) -> Any:
    return jax.tree.map(lambda leaf: leaf[number], tree)


def figure_of_run(figure: str, name: str) -> str:
    """What a figure of one run is called where there are several: `wpg_seed_3`."""
    return f"{figure}_{name.replace('-', '_')}"


def _over_runs(rows: Sequence[Mapping[str, float]], names: Sequence[str]) -> dict[str, float]:
    """Means, errors and the single figures of all runs."""
    figures: dict[str, float] = {}
    for figure in (figure for figure in rows[0] if not figure.endswith("_stderr")):
        values = np.array([row[figure] for row in rows])
        figures[figure] = float(values.mean())
        if len(values) > 1:
            figures[f"{figure}_stderr"] = float(values.std(ddof=1) / np.sqrt(len(values)))
        for name, value in zip(names, values.tolist(), strict=True):
            figures[figure_of_run(figure, name)] = value
    return figures
