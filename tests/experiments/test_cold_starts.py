"""Compiled programs are kept for the next start, and traces show where the time goes."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from experiments import doctor, evaluate, train
from experiments.common import interrupts
from experiments.common.cli import load_settings
from gongzhu_jax import runtime

MAKE_PLAYER = "from gongzhu_jax import players, runtime; players.make('if'); "
SHOW = "print(runtime.compilation_cache())"


@pytest.mark.parametrize("switch", [{}, {"JAX_ENABLE_COMPILATION_CACHE": "false"}])
def test_a_player_keeps_programs_in_a_folder_of_the_user(tmp_path: Path, switch: dict) -> None:
    kept = {name: value for name, value in os.environ.items() if "COMPILATION_CACHE" not in name}
    done = subprocess.run(
        [sys.executable, "-c", MAKE_PLAYER + SHOW],
        env=kept | switch | {"XDG_CACHE_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    folder = tmp_path / "gongzhu_jax"
    assert done.stdout.startswith("None" if switch else str(folder))
    assert runtime.user_cache().name in done.stdout or switch


def test_a_home_that_cannot_be_written_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "file"
    file.touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(file))
    before = runtime.compilation_cache()
    runtime.jax.config.update("jax_compilation_cache_dir", None)
    try:
        runtime.use_compilation_cache()
        assert runtime.compilation_cache() is None
    finally:
        runtime.jax.config.update("jax_compilation_cache_dir", str(before))


def test_the_doctor_shows_the_folder_and_its_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "program").write_bytes(bytes(3_000_000))
    monkeypatch.setattr(runtime, "compilation_cache", lambda: tmp_path)
    (finding,) = doctor.programs()
    assert finding.said == f"3 MB in {tmp_path}"
    monkeypatch.setattr(runtime, "compilation_cache", lambda: None)
    (finding,) = doctor.programs()
    assert finding.fine
    assert "not kept" in finding.said


@pytest.mark.usefixtures("simple_players")
def test_evaluate_traces_a_batch(places: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = ["player=raw", "opponent=random", "deals=4", "batch=4", f"profile={places / 'trace'}"]
    assert evaluate.main(line) == 0
    assert len(list(places.glob("trace/plugins/profile/*/*.xplane.pb"))) == 1
    (places / "file").touch()
    assert evaluate.main([*line[:-1], f"profile={places / 'file'}"]) == 2
    assert "profile" in capsys.readouterr().err


def test_ctrl_c_is_a_wish_for_the_time_of_a_training_only() -> None:
    """What comes after it, such as the matches of a sweep, must hear Ctrl-C again."""
    with interrupts.remembered():
        with interrupts.wished() as wished:
            assert not wished()
            signal.raise_signal(signal.SIGTERM)
            assert wished()
            with pytest.raises(KeyboardInterrupt):
                signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        assert interrupts.received()


def test_a_training_traces_its_second_epoch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signal, "signal", lambda *_: None)  # pytest keeps its own
    folder = tmp_path / "trace"
    line = [f"directory={tmp_path / 'run'}", f"profile={folder}"]
    traces = []  # after each epoch

    def start(on_start: Any, on_epoch: Any, should_stop: Any) -> Any:
        on_start({"epoch": 0})
        for epoch in (1, 2, 3):
            on_epoch({"epoch": epoch, "games": 1, "seconds": 1.0})
            traces.append(len(list(folder.glob("plugins/profile/*/*.xplane.pb"))))
        return SimpleNamespace(epoch=3)

    settings = load_settings("train", train.TrainSettings, line)
    train.run_logged(start, settings, settings.training(), 1, "wpg")
    assert traces == [0, 1, 1]
