"""One of several processes that train together; prints its losses. Used by a test."""

import json
import sys
from typing import Any

import jax
from jax.experimental import multihost_utils
from jax.sharding import Mesh

from gongzhu_jax.network import NetworkConfig
from gongzhu_jax.runtime import games_mesh
from gongzhu_jax.search import SearchConfig
from gongzhu_jax.training.config import LearnerConfig, SelfPlayConfig, TrainingConfig
from gongzhu_jax.training.epoch import compile_epoch, init_state

CONFIG = TrainingConfig(
    epochs=2,
    network=NetworkConfig("compact", stem=32, width=16, blocks=1),
    search=SearchConfig(per_legal=1, chunk=16),
    selfplay=SelfPlayConfig(games=8),
    learner=LearnerConfig(review=2, passes=1, minibatch=52),
)


def train(mesh: Mesh) -> list[dict[str, float]]:
    """Losses and sums over the games of every epoch."""
    state: Any = init_state(CONFIG, mesh)
    run_epoch = compile_epoch(CONFIG, mesh)
    rows = []
    for _ in range(CONFIG.epochs):
        state, metrics = run_epoch(state)
        figures = {**metrics.losses._asdict(), **vars(metrics.selfplay)}
        rows.append({name: float(value) for name, value in figures.items()})
    return rows


def main(address: str, processes: int, number: int) -> None:
    jax.distributed.initialize(address, processes, number)
    # CPU processes give each other 30 seconds to arrive at their first common operation, and
    # compiling may differ by more. Later ones have no such limit.
    multihost_utils.sync_global_devices("start")
    mesh = games_mesh()
    about = {"devices": mesh.size, "local_devices": len(jax.local_devices())}
    print(json.dumps({**about, "epochs": train(mesh)}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
