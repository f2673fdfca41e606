"""Checkpoints: complete or absent, verified when read, and clear about what is wrong with them."""

import gc
import json
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gongzhu_jax.checkpoint import BEST, LAST, Checkpoints, digest
from gongzhu_jax.errors import CheckpointError
from gongzhu_jax.network import NetworkConfig, make
from gongzhu_jax.network.weights import load_weights

# Orbax leaves unfinished reads behind when one of them fails; they are reported when collected.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

SMALL = NetworkConfig("compact", width=8, blocks=1, stem=16)


@pytest.fixture(autouse=True)
def _collect_here():
    yield
    gc.collect()  # and not during a test that has nothing to do with it


def save(run: Checkpoints, epoch: int, kind: str = LAST, network: NetworkConfig = SMALL) -> dict:
    params = make(network).init(jax.random.key(epoch))
    state = {"params": params, "key": jax.random.key(epoch), "epoch": jnp.int32(epoch)}
    about = {"config": {"network": vars(network)}, "epoch": epoch}
    run.save(kind, epoch, state, params, about)
    return state


def largest_file(folder: Path) -> Path:
    return max((p for p in folder.rglob("*") if p.is_file()), key=lambda p: p.stat().st_size)


def test_state_comes_back_bit_for_bit(tmp_path):
    run = Checkpoints(tmp_path)
    state = save(run, 3)
    restored = run.restore(LAST, 3, "state", state)
    assert digest(restored) == digest(state)
    np.testing.assert_array_equal(
        jax.random.key_data(restored["key"]), jax.random.key_data(state["key"])
    )


def test_the_last_two_and_the_best_are_kept(tmp_path):
    run = Checkpoints(tmp_path)
    for epoch in (1, 2, 3):
        save(run, epoch)
    save(run, 1, BEST)
    save(run, 2, BEST)
    assert (run.epochs(LAST), run.epochs(BEST)) == ([2, 3], [2])


def test_saving_the_same_epoch_again_replaces_it(tmp_path):
    run = Checkpoints(tmp_path)
    save(run, 1)
    save(run, 1)
    assert run.epochs(LAST) == [1]


def test_players_get_the_parameters_of_the_best_checkpoint(tmp_path):
    run = Checkpoints(tmp_path)
    save(run, 4)
    best = save(run, 2, BEST)
    network, params = load_weights(tmp_path)
    assert network == SMALL
    assert digest(params) == digest(best["params"])
    _, last = load_weights(tmp_path / LAST / "4")
    assert digest(last) != digest(params)


def test_no_checkpoint_is_a_clear_error(tmp_path):
    with pytest.raises(CheckpointError, match="there is no checkpoint in"):
        load_weights(tmp_path)


@pytest.mark.parametrize("damage", ["truncated", "changed", "header"])
def test_a_damaged_checkpoint_names_an_intact_one(tmp_path, damage):
    run = Checkpoints(tmp_path)
    save(run, 1)
    state = save(run, 2)
    folder = tmp_path / LAST / "2"
    victim = largest_file(folder / ("about" if damage == "header" else "state"))
    content = victim.read_bytes()
    if damage == "changed":  # one bit in the middle
        middle = len(content) // 2
        victim.write_bytes(content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :])
    else:
        victim.write_bytes(content[: len(content) // 2])
    with pytest.raises(CheckpointError, match="last/1"):
        run.restore(LAST, 2, "state", state)


def test_a_checkpoint_of_other_rules_is_refused(tmp_path):
    run = Checkpoints(tmp_path)
    state = save(run, 1)
    header = largest_file(tmp_path / LAST / "1" / "about")
    content = json.loads(header.read_text())
    header.write_text(json.dumps(content | {"rules": "gongzhu-0"}))
    with pytest.raises(CheckpointError, match="rules gongzhu-0"):
        run.restore(LAST, 1, "state", state)


def test_a_foreign_folder_is_refused(tmp_path):
    (tmp_path / LAST / "1").mkdir(parents=True)
    (tmp_path / LAST / "1" / "about").write_text("not ours")
    with pytest.raises(CheckpointError, match="cannot read checkpoint"):
        load_weights(tmp_path / LAST / "1")


def test_another_architecture_is_refused(tmp_path):
    run = Checkpoints(tmp_path)
    save(run, 1)
    other = make(NetworkConfig("compact", width=16, blocks=1, stem=16)).init(jax.random.key(0))
    with pytest.raises(CheckpointError, match="cannot read checkpoint"):
        run.restore(LAST, 1, "params", other)


def test_leftovers_of_a_killed_save_are_not_checkpoints(tmp_path):
    run = Checkpoints(tmp_path)
    stale = tmp_path / LAST / "7.orbax-checkpoint-tmp"
    stale.mkdir(parents=True)
    assert run.epochs(LAST) == []
    save(run, 1)
    assert not stale.exists()
