"""Puts what is published into pages of docs/: `python -m experiments.report.docs`.

A page says where it goes: between <!-- begin NAME --> and <!-- end NAME -->, NAME being that of an
experiment or one of SECTIONS. Everything else on the page is written by hand and stays.
"""

import hashlib
import json
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from experiments.common.progress import as_lines, note
from experiments.common.results import PLACES, RECORDS, read_result
from experiments.report.arena import arena_tables
from experiments.report.compiled import table_row
from experiments.report.markdown import markdown, markdown_table, pictures
from experiments.report.readme import first_table
from experiments.report.sections import MEASURED, TEXTS, section_of, to_be_played
from gongzhu_jax.errors import ConfigError, GongzhuError
from gongzhu_jax.evaluation.deal_sets import SETS
from gongzhu_jax.evaluation.match_records import read_record
from gongzhu_jax.files import write_whole
from gongzhu_jax.network import weights
from gongzhu_jax.opponents import card_belief, opponent_model

PAGES = (
    *("results.md", "model_card.md", "arena.md", "index.md", "gpu.md"),
    *("../README.md", "../README.zh.md"),
)
TO_BE_RUN = "To be run."
SWEEPS = ("curve_beta", "curve_simulations", "curve_scenarios")


def of_experiment(name: str) -> str:
    """The section of an experiment as all pages have it."""
    document = read_result(PLACES.results / f"{name}.json")
    section = to_be_played(name) if document is None else section_of(name, document["result"])
    parts = [section.words, *(markdown_table(table) for table in section.tables)]
    parts += pictures(section, PLACES.pictures, PLACES.pictures / PAGES[0]) if document else []
    parts += [*section.remarks, *([source(document)] if document else [])]
    return "\n\n".join(parts)


def source(document: Mapping[str, Any]) -> str:
    """Where the figures are from. Matches name their own commits, row by row."""
    if any(name in document["result"] for name in ("rows", "cells")):
        return f"`{document['command']}` (`results/{document['name']}.json`)."
    state = "" if document.get("clean", True) else " with changes"
    return (
        f"`{document['command']}`, seed {document['seed']}, commit "
        f"{document['commit'][:10]}{state}, {document['date'][:10]}, {document['seconds']:.0f} s "
        f"on {document['machine']['cores']} cores (`results/{document['name']}.json`)."
    )


def training(name: str, score: str, head: str, digits: int) -> Callable[[], str]:
    """The section of a result of `experiments.training_report`."""

    def section() -> str:
        document = read_result(PLACES.results / f"{name}.json")
        if document is None:
            return TO_BE_RUN
        result = document["result"]
        lines = [["games", "hours", head]]
        for point in result["points"]:
            measured = f"{point[score]:.{digits}f} ± {point[f'{score}_stderr']:.{digits}f}"
            lines.append([f"{point['games']:.0f}", f"{point['hours']:.2f}", measured])
        runs = [result["after"], result] if result["after"] else [result]
        made = " Then ".join(
            f"`{run['run_command']}`, commit {run['run_commit'][:10]}, "
            f"until {run['games']:,} games."
            for run in runs
        )
        return f"{markdown(lines)}\n\nTrained by {made}\n\n{source(document)}"

    return section


def speed(subject: str) -> Callable[[], str]:
    """The section of a subject of `experiments.throughput`."""

    def section() -> str:
        document = read_result(PLACES.results / f"throughput_{subject}.json")
        if document is None:
            return TO_BE_RUN
        return f"{markdown(as_lines(document['result']['rows']))}\n\n{source(document)}"

    return section


def compiled() -> str:
    """What `experiments.compile_check` found, with its picture."""
    document = read_result(PLACES.results / "compile_check.json")
    if document is None:
        return TO_BE_RUN
    table = markdown(as_lines([table_row(row) for row in document["result"]["rows"]]))
    picture = "![Estimated evaluations per second](compile_check.png)"
    return f"{picture}\n\n{table}\n\n{source(document)}"


def shipped(path: Path) -> Callable[[], str]:
    """A weights file of the package and the runs behind it, the last one first."""

    def section() -> str:
        lines = [
            ["", ""],
            ["size", f"{path.stat().st_size / 1e6:.2f} MB"],
            ["SHA-256", f"`{hashlib.sha256(path.read_bytes()).hexdigest()}`"],
        ]
        run: dict[str, Any] | None = weights.about_weights(path)
        while run is not None:
            lines += [
                ["trained by", f"`{run['command']}`"],
                ["commit", f"`{run['commit']}`"],
                ["seed", str(run["config"]["seed"])],
                ["games", f"{run['games']:,}"],
                ["hours of training, on two CPU cores", f"{run['hours']:.2f}"],
                ["epoch", str(run["epoch"])],
            ]
            run = run.get("start")
            if run is not None:
                lines.append(["**started from weights**", ""])
        return markdown(lines)

    return section


def arena_load() -> str:
    """Rounds of the arena under load, and all of them."""
    document = read_result(PLACES.results / "arena_load.json")
    if document is None:
        return TO_BE_RUN
    shown = "\n\n".join(markdown(table.lines) for table in arena_tables(document["result"]))
    return f"{shown}\n\n{source(document)}"


def deal_sets() -> str:
    """The sets of deals, and what is published of each."""
    played: dict[str, set[str]] = {label: set() for label in SETS}
    for path in sorted((PLACES.results / RECORDS).glob("*.json")):
        record = read_record(path).summary()
        played.setdefault(record["set"], set()).add(" over ".join(record["players"]))
    for path in sorted(PLACES.results.glob("*.json")):
        config = json.loads(path.read_text()).get("config", {})
        if path.stem in MEASURED and config.get("set") in played:
            played[config["set"]].add(path.stem)
    lines = [["set", "purpose", "published figures played on it"]]
    for label, deal_set in SETS.items():
        lines.append([label, deal_set.purpose, "; ".join(sorted(played[label])) or "none yet"])
    return markdown(lines)


GAIN = "nats per unseen card better than uniform"
GAIN_OF_PLAYS = "nats per play better than uniform"
SUBJECTS = ("env", "players", "search", "training", "inference", "belief")

SECTIONS: Mapping[str, Callable[[], str]] = {
    **{name: lambda name=name: of_experiment(name) for name in (*TEXTS, *SWEEPS)},
    "training": training("training", "wpg", "raw network over Mr. Greed", 1),
    "training-belief": training("training_belief", "gain", GAIN, 4),
    "training-opponent-model": training("training_opponent_model", "gain", GAIN_OF_PLAYS, 4),
    "shipped": shipped(weights.POLICY_VALUE.shipped),
    "shipped-belief": shipped(card_belief.KIND.shipped),
    "shipped-opponent-model": shipped(opponent_model.KIND.shipped),
    **{f"speed-{name}": speed(name) for name in SUBJECTS},
    "compile-check": compiled,
    "arena-load": arena_load,
    "deal-sets": deal_sets,
    "first-table": first_table,
}


def regenerate(page: str) -> str:
    """The page with all marked sections made new."""
    for name in re.findall(r"<!-- begin (\S+) -->", page):
        if name not in SECTIONS:
            raise ConfigError(f"unknown section {name!r}; there are {', '.join(SECTIONS)}")
        begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
        before, rest = page.split(begin, 1)
        if end not in rest:
            raise ConfigError(f"section {name!r} has no end")
        page = f"{before}{begin}\n{SECTIONS[name]()}\n{end}{rest.split(end, 1)[1]}"
    return page


def rewrite_pages() -> None:
    for name in PAGES:
        page = PLACES.pictures / name
        if page.is_file():
            write_whole(page, regenerate(page.read_text()).encode())


def main() -> int:
    try:
        rewrite_pages()
    except (GongzhuError, OSError) as error:
        note(f"error: {error}")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
