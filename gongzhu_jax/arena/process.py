"""The process of an arena: started on its own, as a user does, for tests and measurements, and
kept from pausing."""

import contextlib
import gc
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from pathlib import Path

HOST = "127.0.0.1"


@dataclass(frozen=True)
class ServerProcess:
    address: str  # HOST:PORT
    process: subprocess.Popen

    def resident_bytes(self) -> int:
        """Memory that the server holds now. Linux only."""
        return resident_bytes(self.process.pid)


@contextlib.contextmanager
def serve(
    database: Path, *options: str, program: Sequence[str] = ("-m", "gongzhu_jax.arena")
) -> Generator[ServerProcess]:
    """Starts the command on a free port, waits until it answers, and kills it at the end."""
    port = _free_port()
    command = [sys.executable, *program, "--port", str(port)]
    process = subprocess.Popen(
        [*command, "--database", str(database), *options], stdout=subprocess.DEVNULL
    )
    try:
        address = f"{HOST}:{port}"
        wait_until(lambda: process.poll() is not None or _answers(address), 120)
        if process.poll() is not None:
            raise RuntimeError(f"the server ended with exit code {process.returncode}")
        yield ServerProcess(address, process)
    finally:
        process.kill()
        process.wait()


def keep_pauses_short() -> None:
    """Spares a process that answers many others the search for garbage in all that is loaded by
    now, which would stop everything for some 200 ms; later objects are searched less often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


def resident_bytes(pid: int) -> int:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def wait_until(condition: Callable[[], bool], seconds: float) -> None:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError("the server does not start")
        time.sleep(0.02)


def _free_port() -> int:
    with socket.socket() as bound:
        bound.bind((HOST, 0))
        return bound.getsockname()[1]


def _answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"http://{address}/api/info", timeout=5) as answer:
            return answer.status == 200
    except (urllib.error.URLError, OSError):
        return False
