"""Checkpoints: complete or absent, verified when read, and clear about what is wrong with them."""

import functools
import gc
import json
import re
import shutil
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import orbax.checkpoint as ocp
import pytest
from etils.epath.testing import mock_epath
from orbax.checkpoint.options import AsyncOptions

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
    run.wait()
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


def cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def index_file(item: Path) -> Path:
    """The file that says where in the other files the arrays are."""
    return next((item / "d").iterdir())


def without_content(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.mkdir()


DAMAGE = {
    "manifest cut short": lambda folder: cut_short(folder / "params" / "manifest.ocdbt"),
    "manifest missing": lambda folder: (folder / "params" / "manifest.ocdbt").unlink(),
    "index cut short": lambda folder: cut_short(index_file(folder / "params")),
    "index missing": lambda folder: index_file(folder / "params").unlink(),
    "metadata cut short": lambda folder: cut_short(folder / "params" / "_METADATA"),
    "arrays cut short": lambda folder: cut_short(largest_file(folder / "params")),
    "arrays missing": lambda folder: largest_file(folder / "params").unlink(),
    "header cut short": lambda folder: cut_short(folder / "about" / "metadata"),
    "header missing": lambda folder: (folder / "about" / "metadata").unlink(),
    "parameters missing": lambda folder: shutil.rmtree(folder / "params"),
    "empty checkpoint": without_content,
    "empty run": lambda folder: without_content(folder.parent.parent),
}


def test_every_damage_is_one_line_of_a_command(tmp_path):
    """All that processes print is looked at: Orbax reads arrays at the same time, and what is
    still being read when one of them fails writes to stderr by itself."""
    save(Checkpoints(tmp_path / "whole"), 3, network=replace(SMALL, blocks=8))  # many arrays
    for number, damage in enumerate(DAMAGE.values()):
        shutil.copytree(tmp_path / "whole", tmp_path / str(number))
        damage(tmp_path / str(number) / LAST / "3")
    script = f"""
from gongzhu_jax.console.__main__ import main
position = ["--seat", "0", "--leader", "0", "--hand", "S2 S3 S4 S5 S6 S7 S8 S9 S10 SJ SQ SK SA"]
for number in range({len(DAMAGE)}):
    run = f"{tmp_path}/{{number}}"
    assert main(["evaluate", "player=raw", f"player_options.checkpoint='{{run}}'"]) == 2
    assert main(["move", *position, "--player", "raw", "-o", f"checkpoint={{run}}"]) == 2
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    lines = done.stderr.splitlines()
    assert done.returncode == 0, done.stderr
    assert len(lines) == 2 * len(DAMAGE), done.stderr
    for number, name in enumerate(DAMAGE):
        for line in lines[2 * number : 2 * number + 2]:
            run = tmp_path / str(number)
            if name == "empty run":
                assert line == f"error: there is no checkpoint in {run}"
            else:
                said = f"error: cannot read checkpoint {run / LAST / '3'}: [^:]* damaged or [^:]*"
                assert re.fullmatch(said, line), (name, line)


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


def test_saving_does_not_wait_for_the_files(tmp_path, monkeypatch):
    """Nor for anything else that Orbax does behind: here it is held up until we let it go."""
    go_on, held = threading.Event(), []
    hold = AsyncOptions(post_finalization_callback=lambda: held.append(go_on.wait(60)))
    real = functools.partial(ocp.CheckpointManagerOptions, async_options=hold)
    monkeypatch.setattr(ocp, "CheckpointManagerOptions", real)
    run = Checkpoints(tmp_path)
    run.save(LAST, 1, {"epoch": jnp.int32(1)}, {"epoch": jnp.int32(1)}, {})
    assert not held
    go_on.set()
    run.wait()
    assert held == [True]


def test_buffers_may_be_donated_at_once(tmp_path):
    run = Checkpoints(tmp_path)
    state = {"window": jnp.zeros(1 << 20)}
    wanted = digest(state)
    add = jax.jit(lambda state: jax.tree.map(lambda leaf: leaf + 1, state), donate_argnums=0)
    run.save(LAST, 1, state, state, {})
    for _ in range(10):
        state = jax.block_until_ready(add(state))
    run.wait()
    assert digest(run.restore(LAST, 1, "state", state)) == wanted


@pytest.mark.parametrize("bucket", ["gs://bucket/run", "s3://bucket/run"])
def test_buckets(bucket):
    """Their names reach Orbax as they are. (The storage itself is Orbax's.)"""
    seen = []
    with mock_epath(isdir=lambda _, path: seen.append(str(path)) or False):
        assert Checkpoints(bucket).epochs(LAST) == []
        with pytest.raises(CheckpointError, match=f"there is no checkpoint in {bucket}"):
            load_weights(bucket)
    assert set(seen) == {f"{bucket}/{kind}" for kind in (LAST, BEST)}
