"""Weights files: what is written is what plays, and what is not ours or damaged is refused."""

import json
from pathlib import Path

import jax
import numpy as np
import pytest
from safetensors.numpy import save_file

from gongzhu_jax.errors import CheckpointError
from gongzhu_jax.network.policy_value import NetworkConfig, make
from gongzhu_jax.network.weights import about_weights, load_weights, save_weights

SMALL = NetworkConfig("compact", stem=8, width=4, blocks=1)


@pytest.fixture
def params():
    return make(SMALL).init(jax.random.key(0))


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_read_back(tmp_path: Path, params, dtype: str) -> None:
    path = tmp_path / "w.safetensors"
    save_weights(path, SMALL, params, {"games": 7}, dtype)
    network, found = load_weights(path)
    assert network == SMALL
    assert about_weights(path) == {"games": 7}
    expected = jax.tree.map(lambda x: np.asarray(x).astype(dtype).astype(np.float32), params)
    jax.tree.map(np.testing.assert_array_equal, found, expected)


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
