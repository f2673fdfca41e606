"""Devices on systems that tell less about themselves than Linux does."""

import os

import pytest

from gongzhu_jax import runtime


def test_cores_where_a_process_cannot_be_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """macOS has no `os.sched_getaffinity`; every command counts cores before anything else."""
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 6)
    chosen = {}
    monkeypatch.setattr(runtime.jax.config, "update", chosen.__setitem__)
    runtime.use_cpu_cores()
    assert chosen == {"jax_num_cpu_devices": 6}


def test_cores_that_the_process_is_bound_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {3}, raising=False)
    assert runtime.available_cores() == 1


def test_cores_that_nobody_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert runtime.available_cores() == 1
