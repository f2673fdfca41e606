"""A comparison on a Ray cluster of which a node dies has the records of one process."""

import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from experiments import compare
from experiments.common.results import PLACES, RECORDS
from gongzhu_jax.evaluation.fingerprint import Fingerprints
from gongzhu_jax.evaluation.match_records import (
    MatchRecord,
    RecordStore,
    read_record,
)

ray = pytest.importorskip("ray")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),  # Ray has warnings of its own
]

MATCHES = "matches={a:[if,random],b:[random,if],c:[if,if],d:[random,random]}"
TIMEOUT = 300  # seconds


def ports() -> dict[str, int]:
    """Free ports for a node. For processes of its own that choose theirs it waits a few seconds,
    which is not enough on a busy machine."""
    names = ("metrics_agent", "metrics_export", "dashboard_agent_listen", "runtime_env_agent")
    with ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in names]
        for one in sockets:
            one.bind(("", 0))
        return {f"{n}_port": s.getsockname()[1] for n, s in zip(names, sockets, strict=True)}


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A head that does no work; nodes with one core each are added to it."""
    from ray.cluster_utils import Cluster

    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    monkeypatch.setenv("RAY_agent_register_timeout_ms", str(1000 * TIMEOUT))
    monkeypatch.setenv("RAY_worker_register_timeout_seconds", str(TIMEOUT))
    head = {"num_cpus": 0, "include_dashboard": False, "include_log_monitor": False, **ports()}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    yield cluster
    ray.shutdown()
    cluster.shutdown()


def records(folder: Path) -> dict[str, list[float]]:
    """Margins by the name of the record, which is the digest of all that decides them."""
    paths = sorted((folder / RECORDS).glob("*.json"))
    return {path.name: read_record(path).margins.tolist() for path in paths}


def wait_for(condition: Any) -> None:
    end = time.monotonic() + TIMEOUT
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.1)


def test_a_node_dies(places: Path, monkeypatch: pytest.MonkeyPatch, cluster: Any) -> None:
    line = [MATCHES, "deals=4", "batch=4", "chunk=null"]
    assert compare.main([*line, "launcher.name=here"]) == 0
    expected = records(places / "runs")
    assert len(expected) == 4

    monkeypatch.setattr(PLACES, "runs", places / "driver")
    nodes = [cluster.add_node(num_cpus=1, **ports()) for _ in range(2)]
    doomed, play, source = nodes[1].node_id, compare.play_in_process, compare.__file__

    def play_on_node(*call: Any) -> MatchRecord:
        """Nothing is shared between nodes, and one of them gets stuck in the middle of a piece."""
        assert compare.__file__ == source
        *what, recorder = call
        node = ray.get_runtime_context().get_node_id()
        (places / node).mkdir(exist_ok=True)
        fingerprints = Fingerprints(places / node / "fingerprints.json")
        store = RecordStore(places / node / RECORDS)
        own = replace(recorder, store=store, fingerprints=fingerprints)
        record = play(*what, own)
        if node == doomed:
            (places / "stuck").touch()
            time.sleep(TIMEOUT)
        return record

    def kill() -> None:
        wait_for((places / "stuck").exists)
        wait_for(lambda: records(places / "driver"))  # another one is home already
        cluster.remove_node(nodes[1], allow_graceful=False)

    monkeypatch.setattr(compare, "play_in_process", play_on_node)
    killer = threading.Thread(target=kill)
    killer.start()
    on_ray = ["launcher.name=ray", f"launcher.address={cluster.address}"]
    assert compare.main([*line, *on_ray]) == 0
    killer.join()
    assert records(places / "driver") == expected
    assert records(places / doomed)  # the piece that was lost
    assert records(places / doomed).keys() < records(places / nodes[0].node_id).keys()
    assert os.environ.get("JAX_NUM_CPU_DEVICES") is None  # only in the processes of the pieces
