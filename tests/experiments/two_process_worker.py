"""One of several processes in a training whose epochs only count; says where it stopped."""

import sys
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from flax import struct

from experiments.common.cli import DONE, guarded, load_settings
from experiments.train import TrainSettings, run_logged
from gongzhu_jax import runtime
from gongzhu_jax.checkpoint import Checkpoints
from gongzhu_jax.training.loop import Schedule, run_epochs


@dataclass(frozen=True)
class Config:
    epochs: int = 1_000_000


class State(struct.PyTreeNode):
    epoch: jax.Array  # [] int32


def main(directory: str) -> int:
    runtime.join_hosts()
    assert jax.process_count() == 2
    count = jax.jit(
        lambda state: state.replace(epoch=state.epoch + 1),
        out_shardings=runtime.on_all(runtime.games_mesh()),
    )

    def start(**hooks: Any) -> State:
        state = run_epochs(
            Config(),
            count(State(jnp.int32(-1))),
            lambda state: (count(state), {}),
            Checkpoints(directory),
            Schedule(evaluate_every=1, checkpoint_every=1),
            params_of=lambda state: state,
            games_per_epoch=lambda config: 1,
            evaluate=lambda params, epoch: {"wpg": float(epoch)},  # each the best: two checkpoints
            **hooks,
        )
        print(int(state.epoch))
        return state

    line = [f"directory={directory}", "distributed=true"]
    settings = load_settings("train", TrainSettings, line)
    run_logged(start, settings, Config(), 1, "score")
    return DONE


if __name__ == "__main__":
    sys.exit(guarded(lambda: main(sys.argv[1])))
