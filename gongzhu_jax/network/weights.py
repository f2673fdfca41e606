"""Parameters from files: the checkpoint of a run, or the weights shipped with the package."""

from pathlib import Path

import jax

from gongzhu_jax.checkpoint import BEST, LAST, Checkpoints
from gongzhu_jax.errors import CheckpointError
from gongzhu_jax.network.registry import NetworkConfig, Params, make


def load_weights(checkpoint: str | Path | None = None) -> tuple[NetworkConfig, Params]:
    """The network and parameters of a checkpoint: the folder of a run (its best, else its last
    checkpoint), or one checkpoint in it such as `runs/train/last/100`."""
    if checkpoint is None:
        raise CheckpointError("no weights are shipped yet: give the folder of a training run")
    path = Path(checkpoint)
    if path.name.isdigit():
        return _load(Checkpoints(path.parent.parent), path.parent.name, int(path.name))
    run = Checkpoints(path)
    for kind in (BEST, LAST):
        if epochs := run.epochs(kind):
            return _load(run, kind, epochs[-1])
    raise CheckpointError(f"there is no checkpoint in {path}")


def _load(run: Checkpoints, kind: str, epoch: int) -> tuple[NetworkConfig, Params]:
    config = NetworkConfig(**run.about(kind, epoch)["config"]["network"])
    shape = jax.eval_shape(make(config).init, jax.random.key(0))
    device = jax.sharding.SingleDeviceSharding(jax.local_devices()[0])
    like = jax.tree.map(
        lambda leaf: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=device), shape
    )
    return config, run.restore(kind, epoch, "params", like)
