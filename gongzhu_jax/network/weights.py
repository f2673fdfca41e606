"""Parameters that play, from files: the checkpoint of a run, a weights file, or the weights file
shipped with the package.

A weights file is a safetensors file: one array for each parameter, named by its path, and a header
with the configuration of the network, the rules it plays by, a digest, and where it came from.
"""

import functools
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

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
POLICY_VALUE = "policy_value"
"""The kind of the networks that play; other networks have files of other kinds."""

C = TypeVar("C")


def shipped() -> Path:
    """The weights file that comes with the package."""
    return Path(str(files("gongzhu_jax.network"))) / f"scrofazero{SUFFIX}"


def load_weights(checkpoint: str | Path | None = None) -> tuple[NetworkConfig, Params]:
    """The network and parameters of `checkpoint`: the folder of a run (its best, else its last
    checkpoint), one checkpoint in it such as `runs/train/last/100`, or a weights file. None: the
    weights shipped with the package."""
    path = shipped() if checkpoint is None else Path(checkpoint)
    return load_network(path, POLICY_VALUE, NetworkConfig, lambda config: make(config).init)


def load_network(
    path: Path,
    kind: str,
    config_type: type[C],
    init_of: Callable[[C], Callable[[jax.Array], Params]],
) -> tuple[C, Params]:
    """Configuration and parameters of a network of any kind, from a weights file, the folder of a
    run or one of its checkpoints."""
    if path.suffix == SUFFIX:
        fields, params = read_weights(path, kind)
        return configured(config_type, fields, path), params
    return restore_params(path, config_type, init_of)


def configured(config_type: type[C], fields: Mapping[str, Any], path: Path) -> C:
    """The configuration of the network of a file; `CheckpointError` if it is of a kind that this
    version does not have."""
    try:
        return config_type(**fields)
    except TypeError as error:
        raise CheckpointError(f"{path} holds a network of another version: {error}") from None


def restore_params(
    path: Path, config_type: type[C], init_of: Callable[[C], Callable[[jax.Array], Params]]
) -> tuple[C, Params]:
    """The network's configuration and the parameters that play, from the folder of a run (its
    best, else its last checkpoint) or from one checkpoint in it."""
    if path.name.isdigit():
        run, kind, epoch = Checkpoints(path.parent.parent), path.parent.name, int(path.name)
    else:
        run = Checkpoints(path)
        found = [(kind, epochs[-1]) for kind in (BEST, LAST) if (epochs := run.epochs(kind))]
        if not found:
            raise CheckpointError(f"there is no checkpoint in {path}")
        kind, epoch = found[0]
    config = configured(config_type, run.about(kind, epoch)["config"]["network"], path)
    shape = jax.eval_shape(init_of(config), jax.random.key(0))
    device = jax.sharding.SingleDeviceSharding(jax.local_devices()[0])
    like = jax.tree.map(
        lambda leaf: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=device), shape
    )
    return config, run.restore(kind, epoch, "params", like)


def save_weights(
    path: Path,
    network: Any,
    params: Params,
    about: Mapping[str, Any],
    dtype: str = "float16",
    kind: str = POLICY_VALUE,
) -> None:
    """Writes a weights file; `about` tells where the parameters came from (JSON)."""
    arrays = {
        name: np.asarray(leaf).astype(dtype)
        for name, leaf in flatten_dict(jax.device_get(params), sep="/").items()
    }
    header = {
        "format": FORMAT,
        "kind": kind,
        "rules": str(RULES_VERSION),
        "network": json.dumps(asdict(network)),
        "digest": digest(arrays),
        "about": json.dumps(dict(about)),
    }
    write_whole(path, save(arrays, header))


def about_weights(path: Path | None = None) -> dict[str, Any]:
    """Where the parameters of a weights file came from."""
    return json.loads(_open(path or shipped())[0]["about"])


def read_weights(path: Path, kind: str) -> tuple[dict[str, Any], Params]:
    """The fields of the network's configuration, and the parameters."""
    header, arrays = _open(path)
    if header["kind"] != kind:
        raise CheckpointError(f"{path} has weights of another kind: {header['kind']}, not {kind}")
    params = unflatten_dict(
        {name: jnp.asarray(leaf, jnp.float32) for name, leaf in arrays.items()}, sep="/"
    )
    return json.loads(header["network"]), params


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
