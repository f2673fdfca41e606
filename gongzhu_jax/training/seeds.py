"""Independent runs of one recipe in one program, which differ in their seeds alone.

One run of the paper's recipe, with its 64 games, cannot fill an accelerator; eight can. Every run
has a folder of its own, in which it can be loaded and gone on with as if it had been alone. Axis: R
runs.
"""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from gongzhu_jax.checkpoint import Checkpoints
from gongzhu_jax.network.policy_value import Params
from gongzhu_jax.training.config import TrainingConfig
from gongzhu_jax.training.epoch import TrainState, init_state, run_epoch, state_shardings
from gongzhu_jax.training.loop import EvaluateFn, Schedule, epoch_figures, run_epochs


class Runs(struct.PyTreeNode):
    """The states of all runs."""

    states: TrainState  # [R]

    @property
    def epoch(self) -> jax.Array:
        return self.states.epoch[0]


class RunsCheckpoints(Checkpoints):
    """Checkpoints of all runs, each in the folder `seed-<its seed>`, as `Checkpoints` of one."""

    def __init__(self, directory: Any, seeds: Sequence[int], keep: int):
        super().__init__(directory, keep)
        self._seeds = list(seeds)
        self._runs = [Checkpoints(self.directory / f"seed-{seed}", keep) for seed in seeds]

    def save(self, kind: str, epoch: int, state: Runs, params: Params, about: Mapping) -> None:
        for number, (seed, run) in enumerate(zip(self._seeds, self._runs, strict=True)):
            one, own = jax.tree.map(lambda leaf, i=number: leaf[i], (state.states, params))
            config = {**about["config"], "seed": seed}
            run.save(kind, epoch, one, own, {**about, "config": config})

    def wait(self) -> None:
        for run in self._runs:
            run.wait()

    def epochs(self, kind: str = "last") -> list[int]:
        """Those that all runs have: a kill may have come between two of them."""
        return sorted(set.intersection(*(set(run.epochs(kind)) for run in self._runs)))

    def about(self, kind: str, epoch: int) -> dict[str, Any]:
        return self._runs[0].about(kind, epoch)

    def restore(self, kind: str, epoch: int, item: str, like: Runs) -> Runs:
        alone = jax.tree.map(lambda leaf: leaf[0], like.states)
        states = [run.restore(kind, epoch, item, alone) for run in self._runs]
        return Runs(_stacked(states, jax.tree.map(lambda leaf: leaf.sharding, like.states)))


def _stacked(states: Sequence[TrainState], shardings: Any) -> TrainState:
    return jax.device_put(jax.tree.map(lambda *leaves: jnp.stack(leaves), *states), shardings)


def compile_epochs(config: TrainingConfig, mesh: Mesh, at_once: bool | None = None):
    """`runs -> (runs, metrics [R])`; the runs are donated.

    Args:
      at_once: whether all runs advance together, as accelerators want it (None there), or one after
        the other, as on CPUs, which one run fills.
    """
    shardings = Runs(_shardings(config, mesh))
    one = functools.partial(run_epoch, config=config, mesh=mesh)
    together = jax.default_backend() != "cpu" if at_once is None else at_once

    def epoch(runs: Runs):
        states, metrics = jax.vmap(one)(runs.states) if together else jax.lax.map(one, runs.states)
        return Runs(states), metrics

    return jax.jit(
        epoch, in_shardings=(shardings,), out_shardings=(shardings, None), donate_argnums=0
    )


def _shardings(config: TrainingConfig, mesh: Mesh) -> TrainState:
    """Where the states live: as those of one run, all runs everywhere."""
    return jax.tree.map(
        lambda one: NamedSharding(mesh, PartitionSpec(None, *one.spec)),
        state_shardings(config, mesh),
    )


def train_seeds(
    config: TrainingConfig,
    seeds: Sequence[int],
    mesh: Mesh,
    directory: Any,
    schedule: Schedule,
    params: Params | None = None,
    evaluate: EvaluateFn | None = None,
    keep: int = 2,
    **options: Any,
) -> Runs:
    """Trains a run for each seed; arguments as of `train`, `keep` as of `Checkpoints`.

    Figures are means over the runs, their errors those over the runs, and `<figure>_seed_<seed>` is
    that of one.
    """
    starts = [init_state(replace(config, seed=seed), mesh, params) for seed in seeds]
    start = Runs(_stacked(starts, _shardings(config, mesh)))
    compiled = compile_epochs(config, mesh)

    def epoch(runs: Runs) -> tuple[Runs, Mapping[str, float]]:
        runs, metrics = compiled(runs)
        jax.block_until_ready(runs)
        return runs, epoch_figures(config, metrics)

    def evaluate_all(params: Params, epoch: int) -> Mapping[str, float]:
        if evaluate is None:
            raise ValueError("there is nothing to evaluate with")
        rows = [
            evaluate(jax.tree.map(lambda leaf, i=number: leaf[i], params), epoch)
            for number in range(len(seeds))
        ]
        figures: dict[str, float] = {}
        for name in (name for name in rows[0] if not name.endswith("_stderr")):
            values = np.array([row[name] for row in rows])
            figures[name] = float(values.mean())
            figures[f"{name}_stderr"] = float(values.std(ddof=1) / np.sqrt(len(values)))
            figures |= {f"{name}_seed_{s}": float(v) for s, v in zip(seeds, values, strict=True)}
        return figures

    return run_epochs(
        replace(config, seed=seeds[0]),
        start,
        epoch,
        RunsCheckpoints(directory, seeds, keep),
        schedule,
        params_of=lambda runs: runs.states.learner.average,
        evaluate=None if evaluate is None else evaluate_all,
        **options,
    )
