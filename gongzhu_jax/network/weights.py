"""Parameters that play, from files: the checkpoint of a run, a weights file, or the weights file
shipped with the package.

A weights file is a safetensors file: one array for each parameter, named by its path, and a header
with the configuration of the network, the rules it plays by, a digest, and where it came from.
"""

import functools
import json
from collections.abc import Mapping
from dataclasses import asdict
from importlib.resources import files
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax.traverse_util import flatten_dict, unflatten_dict
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from gongzhu_jax.checkpoint import BEST, LAST, Checkpoints, digest
from gongzhu_jax.errors import CheckpointError
from gongzhu_jax.game.env import RULES_VERSION
from gongzhu_jax.network.registry import NetworkConfig, Params, make
from gongzhu_jax.records import write_whole

SUFFIX = ".safetensors"
FORMAT = "gongzhu_jax weights 1"


def shipped() -> Path:
    """The weights file that comes with the package."""
    return Path(str(files("gongzhu_jax.network"))) / f"scrofazero{SUFFIX}"


def load_weights(checkpoint: str | Path | None = None) -> tuple[NetworkConfig, Params]:
    """The network and parameters of `checkpoint`: the folder of a run (its best, else its last
    checkpoint), one checkpoint in it such as `runs/train/last/100`, or a weights file. None: the
    weights shipped with the package."""
    path = shipped() if checkpoint is None else Path(checkpoint)
    if path.suffix == SUFFIX:
        return _read(path)
    if path.name.isdigit():
        return _load(Checkpoints(path.parent.parent), path.parent.name, int(path.name))
    run = Checkpoints(path)
    for kind in (BEST, LAST):
        if epochs := run.epochs(kind):
            return _load(run, kind, epochs[-1])
    raise CheckpointError(f"there is no checkpoint in {path}")


def save_weights(
    path: Path,
    network: NetworkConfig,
    params: Params,
    about: Mapping[str, Any],
    dtype: str = "float16",
) -> None:
    """Writes a weights file; `about` tells where the parameters came from (JSON)."""
    arrays = {
        name: np.asarray(leaf).astype(dtype)
        for name, leaf in flatten_dict(jax.device_get(params), sep="/").items()
    }
    header = {
        "format": FORMAT,
        "rules": str(RULES_VERSION),
        "network": json.dumps(asdict(network)),
        "digest": digest(arrays),
        "about": json.dumps(dict(about)),
    }
    write_whole(path, save(arrays, header))


def about_weights(path: Path | None = None) -> dict[str, Any]:
    """Where the parameters of a weights file came from."""
    return json.loads(_open(path or shipped())[0]["about"])


def _read(path: Path) -> tuple[NetworkConfig, Params]:
    header, arrays = _open(path)
    network = NetworkConfig(**json.loads(header["network"]))
    params = unflatten_dict(
        {name: jnp.asarray(leaf, jnp.float32) for name, leaf in arrays.items()}, sep="/"
    )
    return network, params


@functools.cache
def _open(path: Path) -> tuple[dict[str, str], dict[str, np.ndarray]]:
    """Header and arrays, verified."""
    try:
        with safe_open(path, "np") as file:
            header = file.metadata() or {}
            arrays = {name: file.get_tensor(name) for name in sorted(file.keys())}
    except (OSError, SafetensorError) as error:
        raise CheckpointError(f"cannot read weights {path}: {error}") from error
    if header.get("format") != FORMAT:
        raise CheckpointError(f"{path} is not a weights file of this program")
    if header["rules"] != str(RULES_VERSION):
        raise CheckpointError(
            f"{path} was made for rules {header['rules']}, this is {RULES_VERSION}"
        )
    if digest(arrays) != header["digest"]:
        raise CheckpointError(f"cannot read weights {path}: its content does not match its digest")
    return header, arrays


def _load(run: Checkpoints, kind: str, epoch: int) -> tuple[NetworkConfig, Params]:
    config = NetworkConfig(**run.about(kind, epoch)["config"]["network"])
    shape = jax.eval_shape(make(config).init, jax.random.key(0))
    device = jax.sharding.SingleDeviceSharding(jax.local_devices()[0])
    like = jax.tree.map(
        lambda leaf: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=device), shape
    )
    return config, run.restore(kind, epoch, "params", like)
