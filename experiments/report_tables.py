"""Puts the figures of results/*.json into docs/results.md: `python -m experiments.report_tables`.

The page says where they go: between <!-- begin NAME --> and <!-- end NAME -->, NAME being one of
SECTIONS. Everything else on the page is written by hand and stays.
"""

import json
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from experiments.results import RESULTS, ROOT
from gongzhu_jax.errors import ConfigError, GongzhuError

PAGE = ROOT / "docs" / "results.md"
NOT_RUN = "not run"

# Published strengths of the classical players: points of a deal (first team minus second) with
# standard error and deals x rotations; points of a seat in one game with their sd.
PUBLISHED_MATCHES = {
    "if-random": ("Mr. If over Mr. Random", "194.0 ± 3.6 (256 x 16)"),
    "greed-random": ("Mr. Greed over Mr. Random", "275.2 ± 5.3 (1024 x 2)"),
    "greed-if": ("Mr. Greed over Mr. If", "80.3 ± 5.7 (1024 x 2)"),
}
PUBLISHED_SEATS = {
    ("random random random random", "random"): ("four Mr. Randoms", "-63.4 (sd 110.6)"),
    ("if if if if", "if"): ("four Mr. Ifs", "-69 (sd 121)"),
    ("if random random random", "if"): ("Mr. If against three Mr. Randoms", "-2.3"),
    ("if random random random", "random"): ("those three Mr. Randoms", "-87.8"),
}


def classical(folder: Path) -> str:
    """The classical players, published and ours."""
    kept = read(folder, "classical")
    result = kept["result"] if kept else {"matches": {}, "tables": {}}
    lines = [["points", "published", "ours", "won", "drawn"]]
    for name, (what, published) in PUBLISHED_MATCHES.items():
        found = result["matches"].get(name)
        lines.append([what, published, *(_match_cells(found) if found else (NOT_RUN, "", ""))])
    for (name, player), (what, published) in PUBLISHED_SEATS.items():
        table = result["tables"].get(name)
        found = table["points"][player] if table else None
        ours = f"{_points(found)} (sd {found['sd']:.1f})" if found else NOT_RUN
        lines.append([f"{what}, a seat", published, ours, "", ""])
    return markdown(lines) + source(kept)


SECTIONS: dict[str, Callable[[Path], str]] = {"classical": classical}


def regenerate(page: str, folder: Path = RESULTS) -> str:
    """The page with all marked sections made new."""
    marked = re.findall(r"<!-- begin (\S+) -->", page)
    for name in marked:
        if name not in SECTIONS:
            raise ConfigError(f"unknown section {name!r}; there are {', '.join(SECTIONS)}")
        begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
        before, rest = page.split(begin, 1)
        if end not in rest:
            raise ConfigError(f"section {name!r} has no end")
        after = rest.split(end, 1)[1]
        page = f"{before}{begin}\n{SECTIONS[name](folder)}\n{end}{after}"
    return page


def read(folder: Path, name: str) -> dict[str, Any] | None:
    """A results file, or None if there is none."""
    path = folder / f"{name}.json"
    return json.loads(path.read_text()) if path.exists() else None


def markdown(lines: Sequence[Sequence[str]]) -> str:
    """Lines as a table; the first has the heads."""
    head, *rest = (f"| {' | '.join(line)} |" for line in lines)
    return "\n".join([head, "|---" * len(lines[0]) + "|", *rest])


def source(kept: dict[str, Any] | None) -> str:
    """Where the figures are from, as a paragraph."""
    if kept is None:
        return ""
    state = "; interrupted" if kept["result"]["interrupted"] else ""
    return (
        f"\n\n`{kept['command']}`, seed {kept['seed']}, commit {kept['commit'][:10]}, "
        f"{kept['date'][:10]}, {kept['seconds']:.0f} s on {kept['machine']['cores']} cores "
        f"(`results/{kept['name']}.json`){state}."
    )


def _match_cells(found: dict[str, Any]) -> tuple[str, str, str]:
    ours = f"{_points(found)} ({found['deals']} x {found['rotations']})"
    return ours, f"{found['win_rate']:.1%}", f"{found['draw_rate']:.1%}"


def _points(found: dict[str, Any]) -> str:
    error = found["standard_error"]
    return f"{found['mean']:.1f}" + (f" ± {error:.1f}" if error is not None else "")


def main() -> int:
    try:
        PAGE.write_text(regenerate(PAGE.read_text()))
    except (GongzhuError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
