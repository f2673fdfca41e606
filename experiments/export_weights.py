"""Makes a weights file of a checkpoint: `python -m experiments.export_weights`.

    python -m experiments.export_weights checkpoint=runs/compact/last/2000
    python -m experiments.export_weights kind=belief checkpoint=runs/belief/last/120
    python -m experiments.export_weights checkpoint=runs/critic/last/100 average_with=[critic] \\
        output=runs/average.safetensors

With `average_with`, the names of shipped weights or weights files, the parameters are the mean of
all (a model soup), which makes sense for networks that were trained from one another.

Without `output` the file replaces the weights that are shipped with the package. It says which run
its parameters come from: command, configuration, commit, games and hours; and `start`, the same of
the weights that the run started from, if there were any: their games and hours are not in its own.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax

from experiments.common.cli import command
from gongzhu_jax import opponents  # noqa: F401
from gongzhu_jax.checkpoint import Checkpoints
from gongzhu_jax.errors import ConfigError
from gongzhu_jax.network import weights

TYPES = ("float16", "float32")
KINDS = weights.KINDS
"""All kinds of networks; importing `opponents` registers its own."""


@dataclass(frozen=True, kw_only=True)
class ExportSettings:
    checkpoint: str
    average_with: list[str]
    kind: str
    output: str | None
    dtype: str

    def __post_init__(self) -> None:
        path = Path(self.checkpoint)
        if not path.name.isdigit() or path.parent.name not in ("last", "best"):
            raise ConfigError("checkpoint must be one of a run, such as runs/compact/last/100")
        if self.kind not in KINDS:
            raise ConfigError(f"kind must be one of {', '.join(KINDS)}, not {self.kind!r}")
        if self.dtype not in TYPES:
            raise ConfigError(f"dtype must be one of {', '.join(TYPES)}, not {self.dtype!r}")


def mean_params(checkpoints: Sequence[str | Path], kind: weights.NetworkKind) -> tuple[Any, Any]:
    """The configuration that all these networks have, and the mean of their parameters."""
    loaded = [weights.load_weights(checkpoint, kind) for checkpoint in checkpoints]
    network = loaded[0][0]
    for checkpoint, (other, _) in zip(checkpoints, loaded, strict=True):
        if other != network:
            raise ConfigError(f"{checkpoint} has the network {other}, the first one {network}")
    leaves = jax.tree.map(lambda *same: sum(same) / len(same), *(params for _, params in loaded))
    return network, leaves


def export(
    checkpoint: Path, others: Sequence[str], kind: str, output: Path, dtype: str, line: str
) -> None:
    """Writes a weights file of one checkpoint of a run, or of its mean with other weights."""
    epoch = int(checkpoint.name)
    network, params = mean_params([checkpoint, *others], KINDS[kind])
    run = Checkpoints(checkpoint.parent.parent)
    header = run.about(checkpoint.parent.name, epoch)
    config = header["config"]
    about = {
        **{name: header[name] for name in ("command", "commit", "config")},
        "epoch": epoch,
        "games": epoch * config.get("selfplay", config)["games"],
        "hours": header["progress"]["seconds"] / 3600,
        "export": line,
        **({"averaged_with": list(others)} if others else {}),
        **({"start": header["start"]} if "start" in header else {}),
    }
    weights.save_weights(output, network, params, about, dtype, KINDS[kind])
    size, digest = output.stat().st_size / 1e6, hashlib.sha256(output.read_bytes()).hexdigest()
    print(f"{output.name}: {size:.2f} MB, SHA-256 {digest}")


@command("export_weights", ExportSettings)
def main(settings: ExportSettings, line: str) -> None:
    output = KINDS[settings.kind].shipped if settings.output is None else Path(settings.output)
    checkpoint, others = Path(settings.checkpoint), settings.average_with
    export(checkpoint, others, settings.kind, output, settings.dtype, line)


if __name__ == "__main__":
    raise SystemExit(main())
