"""Puts what is published into pages of docs/: `python -m experiments.report.docs`.

A page says where it goes: between <!-- begin NAME --> and <!-- end NAME -->, NAME being that of an
experiment or one of SECTIONS. Everything else on the page is written by hand and stays.
"""

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

from experiments.common.progress import note
from experiments.common.provenance import runs_behind
from experiments.common.results import PLACES, RECORDS, read_result
from experiments.paper.published import paper_numbers, paper_training
from experiments.report import claims
from experiments.report.figures import markdown
from experiments.report.sections import MEASURED, section_of, to_be_played
from experiments.report.texts import TEXTS
from experiments.speed import SUBJECTS
from gongzhu_jax.errors import ConfigError, GongzhuError
from gongzhu_jax.evaluation.deal_sets import SETS
from gongzhu_jax.evaluation.match_records import read_record
from gongzhu_jax.files import write_whole
from gongzhu_jax.game.cards import NUM_CARDS
from gongzhu_jax.network import weights
from gongzhu_jax.opponents import card_belief, distilled_policy, opponent_model

PAGES = (
    *("results.md", "model_card.md", "arena.md", "index.md", "gpu.md"),
    *("../README.md", "../README.zh.md"),
)
SWEEPS = ("curve_beta", "curve_simulations", "curve_scenarios")
NETWORK, BELIEF, MODEL, DISTILLED = (
    kind.shipped
    for kind in (weights.POLICY_VALUE, card_belief.KIND, opponent_model.KIND, distilled_policy.KIND)
)
CRITIC = weights.POLICY_VALUE.named[weights.CRITIC]
PLAYERS = {
    "scrofa": [NETWORK],
    "distilled": [DISTILLED, CRITIC, BELIEF],
    "scrofa-strong": [CRITIC, BELIEF, MODEL, DISTILLED],  # the model knows the distilled policy
}
"""Players of the first table of the README: the weights files that they need."""


def source(name: str, document: Mapping[str, Any]) -> str:
    """Where the figures of the results file `name` are from. Matches name their own commits, row by
    row."""
    if {"rows", "cells"} & document["result"].keys():
        return f"`{document['command']}` (`results/{name}.json`)."
    state = "" if document.get("clean", True) else " with changes"
    return (
        f"`{document['command']}`, seed {document['seed']}, commit "
        f"{document['commit'][:10]}{state}, {document['date'][:10]}, {document['seconds']:.0f} s "
        f"on {document['machine']['cores']} cores (`results/{name}.json`)."
    )


def of_experiment(name: str) -> str:
    """The section of an experiment as all pages have it."""
    document = read_result(PLACES.results / f"{name}.json")
    section = to_be_played(name) if document is None else section_of(name, document["result"])
    parts = [section.words, *(table.markdown() for table in section.tables)]
    if document is not None:
        parts += section.links(PLACES.pictures, PLACES.pictures / PAGES[0])
        parts += [*section.remarks, source(name, document)]
    return "\n\n".join(parts)


def of_measurement(name: str) -> str:
    """Pictures and tables of a result that stands on a page of its own words, and its source."""
    document = read_result(PLACES.results / f"{name}.json")
    if document is None:
        return "To be run."
    section = section_of(name, document["result"])
    tables = [markdown(table.lines) for table in section.tables]
    links = section.links(PLACES.pictures, PLACES.pictures / PAGES[0])
    return "\n\n".join([*links, *tables, source(name, document)])


def training(name: str, score: str, head: str, digits: int) -> str:
    """A result of `experiments.training_report`."""
    document = read_result(PLACES.results / f"{name}.json")
    if document is None:
        return "To be run."
    result = document["result"]
    has_regret = "regret" in result["points"][0]
    lines = [["games", "hours", head, *(["regret, points"] if has_regret else [])]]
    for point in result["points"]:
        measured = f"{point[score]:.{digits}f} ± {point[f'{score}_stderr']:.{digits}f}"
        regret = [f"{point['regret']:.2f}"] if has_regret else []
        lines.append([f"{point['games']:.0f}", f"{point['hours']:.2f}", measured, *regret])
    made = " Then ".join(
        f"`{run['run_command']}`, commit {run['run_commit'][:10]}, until {run['games']:,} games."
        for run in ([result["after"], result] if result["after"] else [result])
    )
    picture = f"![{head}, by games]({name}.png)\n\n" if "mixture" in result["run_config"] else ""
    ours = [
        f" It ends, bit for bit, with the parameters of `{path.name}` in the package."
        for path in (NETWORK, CRITIC, BELIEF, MODEL, DISTILLED)
        if weights.weights_digest(path) == result.get("weights")
    ]
    made = "".join([made, *ours])
    return f"{markdown(lines)}\n\n{picture}Trained by {made}\n\n{source(name, document)}"


def shipped(path: Path) -> str:
    """A weights file of the package and the runs behind it."""
    lines = [
        ["", ""],
        ["size", f"{path.stat().st_size / 1e6:.2f} MB"],
        ["SHA-256", f"`{hashlib.sha256(path.read_bytes()).hexdigest()}`"],
    ]
    for number, run in enumerate(runs_behind(weights.about_weights(path))):
        lines += [["**started from weights**", ""]] if number else []
        averaged = run.get("averaged_with", ())
        lines += [
            ["trained by", f"`{run['command']}`"],
            ["commit", f"`{run['commit']}`"],
            ["seed", str(run["config"]["seed"])],
            ["games", f"{run['games']:,}"],
            ["hours of training, on two CPU cores", f"{run['hours']:.2f}"],
            ["epoch", str(run["epoch"])],
            *([["averaged with", f"`{'`, `'.join(averaged)}`"]] if averaged else []),
        ]
    return markdown(lines)


def first_table(language: str) -> str:
    """The first table of a README, with the words of first_table.yaml: points over Mr. Greed as in
    the result of `compare rows=strength`; hours of training from the headers of the weights."""
    languages: Any = OmegaConf.load(Path(__file__).with_name("first_table.yaml"))
    words = languages[language]
    document = read_result(PLACES.results / "strength.json")
    rows: dict[str, Any] = document["result"]["rows"] if document else {}
    paper = next(n for n in paper_numbers("strength", "scrofa") if n.where == "text")
    training = words.training.format(**paper_training())
    lines = [["", *words.head], [words.paper, paper.text, training, words.rate]]
    for name, files in PLAYERS.items():
        about = [weights.about_weights(path) for path in files]
        hours = sum(run["hours"] for of_file in about for run in runs_behind(of_file))
        points = rate = words.missing
        if row := rows.get(name):
            points = f"{row['mean']:.1f} ± {row['standard_error']:.1f}"
            rate = f"{NUM_CARDS * row['games_per_second']:.0f}"
        lines.append([words.players[name], points, words.hours.format(hours=hours), rate])
    return markdown(lines)


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


def same_sources(folder: Path) -> dict[str, str]:
    """Commits that results name and this repository does not have, and its own with the same
    sources."""
    path = folder / "commits.yaml"
    commits: Any = OmegaConf.to_container(OmegaConf.load(path)) if path.is_file() else {}
    return commits


def other_commits() -> str:
    pairs = [f"{named[:10]} of {own[:10]}" for named, own in same_sources(PLACES.results).items()]
    return (
        "The history of this repository was recorded anew after some matches had been played. "
        "Commits that are not in it have the sources of one that is, by the digest in their "
        f"records: {', '.join(pairs)} (`results/commits.yaml`)."
    )


OVER_GREED = "points over Mr. Greed"
GAIN, OF_PLAYS = (f"nats per {what} better than uniform" for what in ("unseen card", "play"))
SECTIONS: Mapping[str, Callable[[], str]] = {
    **{name: partial(of_experiment, name) for name in (*TEXTS, *SWEEPS)},
    "training": partial(training, "training", "wpg", "raw network over Mr. Greed", 1),
    "training-critic": partial(training, "training_critic", "wpg", OVER_GREED, 1),
    "training-distilled": partial(training, "training_distilled", "wpg", OVER_GREED, 1),
    "training-belief": partial(training, "training_belief", "gain", GAIN, 4),
    "training-opponent-model": partial(training, "training_opponent_model", "gain", OF_PLAYS, 4),
    "shipped": partial(shipped, NETWORK),
    "shipped-critic": partial(shipped, CRITIC),
    "shipped-belief": partial(shipped, BELIEF),
    "shipped-opponent-model": partial(shipped, MODEL),
    "shipped-distilled": partial(shipped, DISTILLED),
    **{f"speed-{name}": partial(of_measurement, f"throughput_{name}") for name in SUBJECTS},
    "compile-check": partial(of_measurement, "compile_check"),
    "arena-load": partial(of_measurement, "arena_load"),
    "deal-sets": deal_sets,
    "other-commits": other_commits,
    "claims": claims.table,
    "first-table": partial(first_table, "en"),
    "first-table-zh": partial(first_table, "zh"),
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
    raise SystemExit(main())
