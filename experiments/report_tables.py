"""Puts the figures of results/*.json into pages of docs/: `python -m experiments.report_tables`.

A page says where they go: between <!-- begin NAME --> and <!-- end NAME -->, NAME being one of
SECTIONS. Everything else on the page is written by hand and stays.
"""

import hashlib
import json
import os
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from experiments.belief_rows import FAMILIES, RIVALS, best_of
from experiments.markdown import markdown
from experiments.report_page import markdown_tables
from experiments.report_sections import SECTIONS as PAPER_SECTIONS
from experiments.results import RESULTS, ROOT, points
from experiments.techniques import PAPER as PAPER_TECHNIQUES
from experiments.throughput import SUBJECTS
from gongzhu_jax.errors import ConfigError, GongzhuError
from gongzhu_jax.network import weights
from gongzhu_jax.opponents import card_belief, opponent_model

PAGE = ROOT / "docs" / "results.md"
PAGES = (PAGE, ROOT / "docs" / "model_card.md", ROOT / "docs" / "arena.md")
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


# Points over Mr. Greed of the paper's players.
PAPER_STRENGTH = {"raw": "37", "scrofa-simple": "59.7 ± 3.3", "scrofa": "73.9 ± 3.3"}


def classical(folder: Path) -> str:
    """The classical players, published and ours."""
    kept = read(folder, "classical")
    result = kept["result"] if kept else {"matches": {}, "tables": {}}
    lines = [["points", "published", "ours", "won", "drawn", "ours if a lone C10 counts 0"]]
    for name, (what, published) in PUBLISHED_MATCHES.items():
        found = result["matches"].get(name)
        cells = _match_cells(found) if found else (NOT_RUN, "", "")
        lines.append([what, published, *cells, ""])
    for (name, player), (what, published) in PUBLISHED_SEATS.items():
        table = result["tables"].get(name)
        columns = ("points", "points_lone_c10_as_0")
        full, zero = (_seat_cell(table[kind][player]) if table else NOT_RUN for kind in columns)
        lines.append([f"{what}, a seat", published, full, "", "", zero])
    return markdown(lines) + source(kept)


def techniques(folder: Path) -> str:
    """The paper's table of techniques, published and ours."""
    kept = read(folder, "techniques")
    rows = kept["result"]["rows"] if kept else {}
    lines = [["technique", "paper", "paper won (+drawn)", "ours", "ours won", "drawn", "over US"]]
    for name, (published, rates) in PAPER_TECHNIQUES.items():
        found = rows.get(name)
        over = points(found["over_us"]) if found and "over_us" in found else ""
        cells = _match_cells(found) if found else (NOT_RUN, "", "")
        lines.append([name, published, rates, *cells, over])
    return markdown(lines) + source(kept)


def training(name: str, score: str, head: str, digits: int) -> Callable[[Path], str]:
    """The section of a result of `experiments.training_report`."""

    def section(folder: Path) -> str:
        kept = read(folder, name)
        return NOT_RUN if kept is None else _curve(kept, score, head, digits)

    return section


def _curve(kept: dict[str, Any], score: str, head: str, digits: int) -> str:
    found = kept["result"]
    lines = [["games", "hours", head]]
    for point in found["points"]:
        measured = f"{point[score]:.{digits}f} ± {point[f'{score}_stderr']:.{digits}f}"
        lines.append([f"{point['games']:.0f}", f"{point['hours']:.2f}", measured])
    runs = [found["after"], found] if found["after"] else [found]
    made = " Then ".join(
        f"`{run['run_command']}`, commit {run['run_commit'][:10]}, until {run['games']:,} games."
        for run in runs
    )
    return markdown(lines) + f"\n\nTrained by {made}" + source(kept)


def speed(subject: str) -> Callable[[Path], str]:
    """The section of a subject of `experiments.throughput`."""

    def section(folder: Path) -> str:
        kept = read(folder, f"throughput_{subject}")
        if kept is None:
            return NOT_RUN
        rows = kept["result"]["rows"]
        lines = [[name.replace("_", " ") for name in rows[0]]]
        lines += [[_cell(value) for value in row.values()] for row in rows]
        return markdown(lines) + source(kept)

    return section


def full_player(folder: Path) -> str:
    """One evaluation of the full player, and how long it took."""
    kept = read(folder, "match-scrofa-greed")
    if kept is None:
        return NOT_RUN
    found = kept["result"]
    lines = [
        ["match", "paper", "points", "won", "drawn", "minutes"],
        [
            "ScrofaZero (SS with IEC, 9 scenarios, 10 + 2 x legal) over Mr. Greed",
            PAPER_STRENGTH["scrofa"],
            *_match_cells(found),
            f"{found['seconds'] / 60:.1f}",
        ],
    ]
    return markdown(lines) + source(kept)


def openspiel(folder: Path) -> str:
    """OpenSpiel's IS-MCTS against Mr. Greed."""
    kept = read(folder, "match-openspiel-ismcts-greed")
    if kept is None:
        return NOT_RUN
    found = kept["result"]
    lines = [
        ["match", "simulations", "points", "won", "drawn"],
        [
            "IS-MCTS over Mr. Greed",
            str(kept["config"]["player_options"]["simulations"]),
            *_match_cells(found),
        ],
    ]
    return markdown(lines) + source(kept)


def _cell(value: Any) -> str:
    if not isinstance(value, float):
        return str(value)
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def oracle_gap(folder: Path) -> str:
    """One network with ever better guesses at the hidden hands."""
    kept = read(folder, "oracle_gap")
    if kept is None:
        return NOT_RUN
    lines = [["what the player knows", "points over Mr. Greed", "won", "drawn", "over 9 uniform"]]
    for name, found in kept["result"]["rows"].items():
        over = points(found["over_first"]) if "over_first" in found else ""
        lines.append([name, *_match_cells(found), over])
    return markdown(lines) + source(kept)


def of_paper(name: str) -> Callable[[Path], str]:
    """The section of an experiment as the report of `experiments.reproduce` has it."""

    def section(folder: Path) -> str:
        kept = read(folder, name)
        if kept is None:
            return NOT_RUN
        found = PAPER_SECTIONS[name](kept["result"])
        pictures = [
            f"![{caption}]({os.path.relpath(folder / file, PAGE.parent)})"
            for file, caption in found.pictures.items()
            if (folder / file).is_file()
        ]
        return "\n\n".join([found.words, *markdown_tables(found), *pictures]) + source(kept)

    return section


def strength(name: str) -> Callable[[Path], str]:
    """The section of a result of `experiments.strength`."""

    def section(folder: Path) -> str:
        kept = read(folder, name)
        if kept is None:
            return NOT_RUN
        lines = [["player", "paper", "points", "won", "drawn", "games per second"]]
        for player, found in kept["result"]["rows"].items():
            paper = PAPER_STRENGTH.get(player, "")
            cells = _match_cells(found)
            lines.append([player, paper, *cells, f"{found['games_per_second']:.1f}"])
        paired = [["on the same deals", "difference"]]
        for pair, found in kept["result"]["differences"].items():
            paired.append([pair, points(found)])
        tables = [markdown(lines), *([markdown(paired)] if len(paired) > 1 else [])]
        return "\n\n".join(tables) + source(kept)

    return section


def belief(name: str) -> Callable[[Path], str]:
    """The section of a result of `experiments.belief_quality`."""

    def section(folder: Path) -> str:
        kept = read(folder, name)
        return NOT_RUN if kept is None else _likelihoods(kept)

    return section


def _likelihoods(kept: dict[str, Any]) -> str:
    """Likelihood of the true hands under each weighting."""
    rows = kept["result"]["rows"]
    cases = list(dict.fromkeys((row["kind"], row["stage"]) for row in rows))
    families = [name for name in FAMILIES if best_of(rows, *cases[0], name)]
    learned = [name for name in families if "over_bayes" in (best_of(rows, *cases[0], name) or {})]
    over = f"{' / '.join(FAMILIES[name] for name in learned)} over the better of IEC and Bayes"
    overs = [over] if learned else []
    lines = [["games of", "stage", *(FAMILIES[name] for name in families), *overs, EFFECTIVE]]
    for kind, stage in cases:
        best = {name: row for name in families if (row := best_of(rows, kind, stage, name))}
        weighted = [row for name, row in best.items() if name != "uniform"]
        shares = " / ".join(f"{row['effective_share']:.2f}" for row in weighted)
        cells = [_likelihood(row) for row in best.values()]
        if learned:
            cells.append(" / ".join(_over_rivals(best[name]) for name in learned))
        lines.append([kind, stage, *cells, shares])
    errors = [
        f"{kind} {found['expected_calibration_error']:.3f}"
        for kind, found in kept["result"]["calibration"].items()
    ]
    said = f"\n\nExpected calibration error: {'; '.join(errors)}." if errors else ""
    return markdown(lines) + said + source(kept)


def _over_rivals(row: Mapping[str, Any]) -> str:
    """What is learned over the better of IEC and Bayes."""
    over = min((f"over_{name}" for name in RIVALS), key=lambda key: row[key])
    return f"{row[over]:+.4f} ± {row[f'{over}_standard_error']:.4f}"


def _likelihood(row: Mapping[str, Any]) -> str:
    if row["weights"] == "uniform":
        return f"{row['deal']:.4f}"
    setting = row["weights"].partition(" ")[2]
    gain = f"{row['gain']:+.4f} ± {row['gain_standard_error']:.4f}"
    return f"{gain} ({setting})" if setting else gain


def shipped_weights(folder: Path) -> str:
    """The file of the shipped network and the runs behind it, the last one first."""
    return _weights_file(weights.POLICY_VALUE.shipped)


def shipped_belief(folder: Path) -> str:
    """The same of the shipped belief."""
    return _weights_file(card_belief.KIND.shipped)


def shipped_opponent_model(folder: Path) -> str:
    """The same of the shipped opponent model."""
    return _weights_file(opponent_model.KIND.shipped)


def _weights_file(path: Path) -> str:
    if not path.is_file():
        return NOT_RUN
    about = weights.about_weights(path)
    lines = [
        ["", ""],
        ["size", f"{path.stat().st_size / 1e6:.2f} MB"],
        ["SHA-256", f"`{hashlib.sha256(path.read_bytes()).hexdigest()}`"],
    ]
    run = about
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


def arena_load(folder: Path) -> str:
    """Rounds of the arena under load, and all of them."""
    kept = read(folder, "arena_load")
    if kept is None:
        return NOT_RUN
    result = kept["result"]
    names = ["games", "lost_or_wrong", "plays_per_second", "median_ms", "p99_ms", "most_ms"]
    titles = [name.replace("_", " ") for name in names]
    lines = [["round", *titles, "memory of the server, MB"]]
    for number, row in enumerate(result["rounds"], start=1):
        lines.append([str(number), *(f"{row[name]:g}" for name in names), f"{row['memory_mb']:g}"])
    lines.append(["all", *(f"{result[name]:g}" for name in names), ""])
    return markdown(lines) + source(kept)


EFFECTIVE = "effective share of each"
GAIN = "nats per unseen card better than uniform"
GAIN_OF_PLAYS = "nats per play better than uniform"

SECTIONS: dict[str, Callable[[Path], str]] = {
    "classical": classical,
    "techniques": techniques,
    "training": training("training", "wpg", "raw network over Mr. Greed", 1),
    "training-belief": training("training_belief", "gain", GAIN, 4),
    "training-opponent-model": training("training_opponent_model", "gain", GAIN_OF_PLAYS, 4),
    "training-belief-flat": training("training_belief_flat", "gain", GAIN, 4),
    "oracle-gap": oracle_gap,
    "strength": strength("strength"),
    "strength-development": strength("strength_development"),
    "strength-opponent-model-development": strength("strength_opponent_model_development"),
    "strength-flat": strength("strength_flat"),
    "strength-development-flat": strength("strength_development_flat"),
    "full-player": full_player,
    "belief": belief("belief_quality"),
    "belief-flat": belief("belief_quality_flat"),
    "shipped": shipped_weights,
    "shipped-belief": shipped_belief,
    "shipped-opponent-model": shipped_opponent_model,
    **{name: of_paper(name) for name in PAPER_SECTIONS if name != "techniques"},
    **{f"speed-{name}": speed(name) for name in SUBJECTS},
    "openspiel": openspiel,
    "arena-load": arena_load,
}


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
    return {**json.loads(path.read_text()), "name": name} if path.exists() else None


def source(kept: dict[str, Any] | None) -> str:
    """Where the figures are from, as a paragraph."""
    if kept is None:
        return ""
    state = "; interrupted" if kept["result"].get("interrupted") else ""
    return (
        f"\n\n`{kept['command']}`, seed {kept['seed']}, commit {kept['commit'][:10]}, "
        f"{kept['date'][:10]}, {kept['seconds']:.0f} s on {kept['machine']['cores']} cores "
        f"(`results/{kept['name']}.json`){state}."
    )


def _seat_cell(found: dict[str, Any]) -> str:
    return f"{points(found)} (sd {found['sd']:.1f})"


def _match_cells(found: dict[str, Any]) -> tuple[str, str, str]:
    ours = f"{points(found)} ({found['deals']} x {found['rotations']})"
    return ours, f"{found['win_rate']:.1%}", f"{found['draw_rate']:.1%}"


def main() -> int:
    try:
        for page in PAGES:
            page.write_text(regenerate(page.read_text()))
    except (GongzhuError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
