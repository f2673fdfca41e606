"""How fast things are: `python -m experiments.throughput env`.

Each subject is a module with `run(...) -> {"rows": [...]}` whose defaults are the published
settings. The table is printed and kept as results/throughput_<subject>.json.
"""

import inspect
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from experiments.results import print_table, write_result
from gongzhu_jax import runtime

SUBJECTS = {
    # name: module, imported only when it is asked for
    "env": "experiments.throughput_env",
    "players": "experiments.throughput_players",
    "search": "experiments.throughput_search",
    "training": "experiments.throughput_training",
    "inference": "experiments.throughput_inference",
    "belief": "experiments.throughput_belief",
}


def main(argv: Sequence[str] | None = None, **changes: Any) -> int:
    """Runs the subjects that are named; `changes` replace defaults of their `run`."""
    subjects = list(sys.argv[1:] if argv is None else argv)
    if not subjects or not set(subjects) <= set(SUBJECTS):
        names = " | ".join(SUBJECTS)
        print(f"usage: python -m experiments.throughput {names}", file=sys.stderr)
        return 2
    for subject in subjects:
        run = import_module(SUBJECTS[subject]).run
        defaults = inspect.signature(run).parameters.values()
        config = {parameter.name: parameter.default for parameter in defaults} | changes
        result = run(**config)
        print_table(f"throughput: {subject}", result["rows"])
        seed = config.pop("seed", None)
        command = f"python -m experiments.throughput {subject}"
        write_result(f"throughput_{subject}", result, command, config, seed)
    return 0


if __name__ == "__main__":
    runtime.use_cpu_cores()  # before anything touches a device
    sys.exit(main())
