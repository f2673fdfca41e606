"""The doctor sees what is wrong, says so, and goes on."""

from collections.abc import Iterator

import pytest

from experiments import doctor
from experiments.doctor import Finding


def test_here_all_but_speed_is_well() -> None:
    for check in (doctor.packages, doctor.room, doctor.devices, doctor.numbers, doctor.weights):
        for finding in check():
            assert finding.fine, finding


def test_what_is_wrong_is_said(monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    def broken() -> Iterator[Finding]:
        yield Finding("left leg", "shorter", False, "see a carpenter")

    def crashes() -> Iterator[Finding]:
        raise RuntimeError("no pulse\nand more")

    monkeypatch.setattr(doctor, "CHECKS", (crashes, broken, doctor.packages))
    monkeypatch.setattr("gongzhu_jax.runtime.use_cpu_cores", lambda: None)
    assert doctor.main([]) == 1
    said = capsys.readouterr().out
    assert "BAD  crashes              no pulse" in said
    assert "left leg             shorter: see a carpenter" in said
    assert "ok   Python" in said
    assert "2 thing(s)" in said


def test_settings_are_refused(capsys: pytest.CaptureFixture) -> None:
    assert doctor.main(["deals=3"]) == 2
    assert capsys.readouterr().err == "error: the doctor takes no settings\n"
