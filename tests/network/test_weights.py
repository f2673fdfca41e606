"""Weights files: what is written is what plays, and what is not ours or damaged is refused."""

import json
from dataclasses import replace
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save_file

from gongzhu_jax import players
from gongzhu_jax.checkpoint import digest
from gongzhu_jax.errors import CheckpointError
from gongzhu_jax.network.policy_value import NetworkConfig, make
from gongzhu_jax.network.weights import (
    KINDS,
    POLICY_VALUE,
    about_weights,
    load_weights,
    save_weights,
)

SMALL = NetworkConfig("compact", stem=8, width=4, blocks=1)


@pytest.fixture
def params():
    return make(SMALL).init(jax.random.key(0))


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_read_back(tmp_path: Path, params, dtype: str) -> None:
    path = tmp_path / "w.safetensors"
    save_weights(path, SMALL, params, {"games": 7}, dtype)
    network, loaded = load_weights(path)
    assert network == SMALL
    assert about_weights(path) == {"games": 7}
    expected = jax.tree.map(lambda x: np.asarray(x).astype(dtype).astype(np.float32), params)
    jax.tree.map(np.testing.assert_array_equal, loaded, expected)


def test_damage_is_noticed(tmp_path: Path, params) -> None:
    path = tmp_path / "w.safetensors"
    save_weights(path, SMALL, params, {})
    content = path.read_bytes()
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(CheckpointError, match="does not match its digest"):
        load_weights(path)
    shorter = tmp_path / "short.safetensors"
    shorter.write_bytes(content[: len(content) // 2])
    with pytest.raises(CheckpointError, match="cannot read weights"):
        load_weights(shorter)


def test_missing_and_foreign_files(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="cannot read weights"):
        load_weights(tmp_path / "none.safetensors")
    save_file({"x": np.zeros(3)}, tmp_path / "foreign.safetensors")
    with pytest.raises(CheckpointError, match="not a weights file"):
        load_weights(tmp_path / "foreign.safetensors")
    header = {
        "format": "gongzhu_jax weights 1",
        "rules": "gongzhu-0",
        "kind": "x",
        "network": json.dumps({}),
    }
    save_file({"x": np.zeros(3)}, tmp_path / "old.safetensors", header)
    with pytest.raises(CheckpointError, match="rules gongzhu-0"):
        load_weights(tmp_path / "old.safetensors")


def test_files_of_other_kinds_and_versions_are_refused(tmp_path: Path, params) -> None:
    """A file that was made when its kind or a field had another name."""
    path = tmp_path / "old.safetensors"
    save_weights(path, SMALL, params, {"games": 7})
    with safe_open(path, "np") as file:
        header = dict(file.metadata())
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    kind, version = tmp_path / "kind.safetensors", tmp_path / "version.safetensors"
    save_file(arrays, kind, {**header, "kind": "first_name"})
    with pytest.raises(CheckpointError, match="another kind: first_name"):
        load_weights(kind)
    fields = json.loads(header["network"])
    fields["units"] = fields.pop("width")
    save_file(arrays, version, {**header, "network": json.dumps(fields)})
    with pytest.raises(CheckpointError, match="another version"):
        load_weights(version)


def test_kinds_are_shipped_or_say_that_they_are_not(tmp_path: Path) -> None:
    assert set(KINDS) == {"policy_value", "belief", "opponent_model", "distilled_policy"}
    with pytest.raises(CheckpointError, match="no belief is shipped yet"):
        load_weights(None, replace(KINDS["belief"], shipped=tmp_path / "nothing.safetensors"))
    for kind in KINDS.values():
        config, params = load_weights(None, kind)
        assert isinstance(config, kind.config_type)
        shape = jax.eval_shape(lambda key, c=config, k=kind: k.init(key, c), jax.random.key(0))
        assert jax.tree.map(jnp.shape, params) == jax.tree.map(jnp.shape, shape)
        assert kind.description


def test_shipped_weights_have_names() -> None:
    assert set(POLICY_VALUE.named) == {"perfect-information", "critic"}
    shipped, critic = (load_weights(name)[1] for name in POLICY_VALUE.named)
    assert digest(shipped) == digest(load_weights(None)[1])
    assert digest(critic) != digest(shipped)
    with pytest.raises(CheckpointError, match="there is no checkpoint in critics"):
        load_weights("critics")
    # The strongest player looks ahead with the critic, those of the paper with its own network.
    for name, params in (("scrofa-strong", critic), ("scrofa", shipped), ("raw", shipped)):
        assert digest(players.make(name).params.network) == digest(params)
    chosen = players.make("scrofa-strong", checkpoint="perfect-information")
    assert digest(chosen.params.network) == digest(shipped)
