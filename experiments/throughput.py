"""How fast things are: `python -m experiments.throughput env`.

Each subject is a module of experiments/speed with `run(...) -> {"rows": [...]}` whose defaults are
the published settings. The table is printed and kept as runs/throughput_<subject>.json, with
`publish=true` as results/throughput_<subject>.json.
"""

import inspect
import shlex
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from experiments.common.cli import BAD_SETTINGS, choose_devices, guarded
from experiments.common.progress import as_lines, note, print_table
from experiments.common.results import Workplace
from experiments.speed import SUBJECTS

PUBLISH = "publish=true"


def main(argv: Sequence[str] | None = None, **changes: Any) -> int:
    """Runs the subjects that are named; `changes` replace defaults of their `run`."""
    words = list(sys.argv[1:] if argv is None else argv)
    subjects = [word for word in words if word != PUBLISH]
    if not subjects or not set(subjects) <= set(SUBJECTS):
        note(f"usage: python -m experiments.throughput {' | '.join(SUBJECTS)} [{PUBLISH}]")
        return BAD_SETTINGS
    choose_devices()
    return guarded(lambda: _measure(subjects, PUBLISH in words, changes))


def _measure(subjects: Sequence[str], publish: bool, changes: dict[str, Any]) -> None:
    for subject in subjects:
        line = ["python", "-m", "experiments.throughput", subject, *([PUBLISH] if publish else [])]
        work = Workplace(shlex.join(line), publish)
        work.check()
        run = import_module(f"experiments.speed.{subject}").run
        defaults = inspect.signature(run).parameters.values()
        config = {parameter.name: parameter.default for parameter in defaults} | changes
        result = run(**config)
        print_table(f"throughput: {subject}", as_lines(result["rows"]))
        work.write(f"throughput_{subject}", result, config)


if __name__ == "__main__":
    raise SystemExit(main())
