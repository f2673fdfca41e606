"""Parameters that play, from files: the checkpoint of a run, a weights file, or a weights file
shipped with the package.

A weights file is a safetensors file: one array for each parameter, named by its path, and a header
with the kind and configuration of the network, the rules it plays by, a digest, and where it came
from. `KINDS` is the one list of all kinds of networks.
"""

import functools
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from flax.traverse_util import flatten_dict, unflatten_dict
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from gongzhu_jax.checkpoint import BEST, LAST, Checkpoints, digest, storage_path
from gongzhu_jax.errors import CheckpointError
from gongzhu_jax.files import write_whole
from gongzhu_jax.game.env import RULES_VERSION
from gongzhu_jax.network.policy_value import NetworkConfig, Params, make

SUFFIX = ".safetensors"
FORMAT = "gongzhu_jax weights 1"
PERFECT_INFORMATION = "perfect-information"
"""The shipped network that was trained as in the paper, by play with all hands seen."""
CRITIC = "critic"
"""The shipped network whose values are those of play between players who do not see each other's
hands."""

C = TypeVar("C")


@dataclass(frozen=True)
class NetworkKind:
    """A kind of network of which one is shipped with the package."""

    name: str  # the kind recorded in the headers of its weights files
    shipped: Path  # the weights file that comes with the package, once there is one
    config_type: type
    init: Callable[[jax.Array, Any], Params]  # (key, config) -> untrained parameters
    description: str  # one line for the model card
    named: Mapping[str, Path] = field(default_factory=dict)  # shipped files, where there are more


KINDS: dict[str, NetworkKind] = {}


def register(kind: NetworkKind) -> NetworkKind:
    """Adds a kind of network; packages above this one register theirs when they are imported."""
    KINDS[kind.name] = kind
    return kind


def kind_of(config: Any) -> NetworkKind:
    """The kind of the network that has this configuration."""
    return next(kind for kind in KINDS.values() if kind.config_type is type(config))


POLICY_VALUE = register(
    NetworkKind(
        "policy_value",
        Path(__file__).with_name(f"scrofazero{SUFFIX}"),
        NetworkConfig,
        lambda key, config: make(config).init(key),
        "the network that plays: 52 policy logits and the points still to come",
        {
            PERFECT_INFORMATION: Path(__file__).with_name(f"scrofazero{SUFFIX}"),
            CRITIC: Path(__file__).with_name(f"critic{SUFFIX}"),
        },
    )
)


def load_weights(
    checkpoint: str | Path | None = None, kind: NetworkKind = POLICY_VALUE
) -> tuple[Any, Params]:
    """The configuration and parameters of a network of that kind.

    Args:
      checkpoint: the folder of a run (its best, else its last checkpoint) or one checkpoint in it
        such as `runs/train/last/100`, both also in a bucket (`gs://`, `s3://`); a weights file; or
        the name of shipped weights such as "critic". None: the shipped weights.
    """
    ours = kind.shipped if checkpoint is None else kind.named.get(str(checkpoint))
    path = Path(checkpoint or "") if ours is None else ours
    if ours is not None and not path.is_file():
        raise CheckpointError(f"no {kind.name} is shipped yet: give a run or a weights file")
    if path.suffix == SUFFIX:
        fields, params = read_weights(path, kind.name)
        return configured(kind.config_type, fields, path), params
    return restore_params(checkpoint or path, kind)


def configured(config_type: type[C], fields: Mapping[str, Any], path: str | Path) -> C:
    """The configuration of the network of a file; `CheckpointError` if it is of a kind that this
    version does not have."""
    try:
        return config_type(**fields)
    except TypeError as error:
        raise CheckpointError(f"{path} holds a network of another version: {error}") from None


def restore_params(path: str | Path, kind: NetworkKind) -> tuple[Any, Params]:
    """The network's configuration and the parameters that play, from the folder of a run (its
    best, else its last checkpoint) or from one checkpoint in it."""
    place = storage_path(path)
    if place.name.isdigit() and place.parent.name in (BEST, LAST):
        run, series, epoch = Checkpoints(place.parent.parent), place.parent.name, int(place.name)
    else:
        run = Checkpoints(place)
        newest = [(series, epochs[-1]) for series in (BEST, LAST) if (epochs := run.epochs(series))]
        if not newest:
            raise CheckpointError(f"there is no checkpoint in {path}")
        series, epoch = newest[0]
    config = configured(kind.config_type, run.about(series, epoch)["config"]["network"], path)
    shape = jax.eval_shape(lambda key: kind.init(key, config), jax.random.key(0))
    device = jax.sharding.SingleDeviceSharding(jax.local_devices()[0])
    like = jax.tree.map(
        lambda leaf: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=device), shape
    )
    return config, run.restore(series, epoch, "params", like)


def save_weights(
    path: Path,
    network: Any,
    params: Params,
    about: Mapping[str, Any],
    dtype: str = "float16",
    kind: NetworkKind = POLICY_VALUE,
) -> None:
    """Writes a weights file; `about` tells where the parameters came from (JSON)."""
    arrays = as_stored(params, dtype)
    header = {
        "format": FORMAT,
        "kind": kind.name,
        "rules": str(RULES_VERSION),
        "network": json.dumps(asdict(network)),
        "digest": digest(arrays),
        "about": json.dumps(dict(about)),
    }
    write_whole(path, save(arrays, header))


def as_stored(params: Params, dtype: str = "float16") -> dict[str, np.ndarray]:
    """The arrays of a weights file with these parameters, by name."""
    flat = flatten_dict(jax.device_get(params), sep="/")
    return {name: np.asarray(leaf).astype(dtype) for name, leaf in flat.items()}


def weights_digest(path: Path) -> str:
    """The digest of the arrays of a weights file, whatever its header says of their origin."""
    return _open(path)[0]["digest"]


def about_weights(path: Path = POLICY_VALUE.shipped) -> dict[str, Any]:
    """Where the parameters of a weights file came from."""
    return json.loads(_open(path)[0]["about"])


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
