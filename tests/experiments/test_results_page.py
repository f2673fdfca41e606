"""Every number of the results page from what is committed, computed again."""

import io
import json
import re
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiments.common.provenance import ROOT
from experiments.common.results import RECORDS, Workplace
from experiments.compare import difference
from experiments.report import docs
from experiments.report.sections import section_of
from gongzhu_jax.evaluation.deal_sets import choose_deals
from gongzhu_jax.evaluation.fingerprint import source_digest
from gongzhu_jax.evaluation.match_records import RecordStore, read_record
from tests.evaluation.simple_players import high_player, mixed_player, random_player

COMMITTED = ROOT / "results"


@pytest.fixture
def committed(places: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The committed results and pages, copied."""
    for name, folder in (("results", COMMITTED), ("pictures", ROOT / "docs")):
        shutil.copytree(folder, places / name, dirs_exist_ok=True)
    return places


def views(folder: Path) -> dict[str, dict[str, Any]]:
    paths = sorted(folder.glob("*.json"))
    return {path.stem: json.loads(path.read_text())["result"] for path in paths}


def check_row(row: dict[str, Any], store: RecordStore) -> np.ndarray:
    """A row of a view against plain arithmetic on the margins of its record; the margins."""
    record = store.get(row["match"], row["deals"])
    margins = np.array(record.margins)
    assert row["mean"] == pytest.approx(sum(margins) / len(margins), abs=1e-9)
    if len(margins) > 1:
        spread = np.sqrt(sum((margins - margins.mean()) ** 2) / (len(margins) - 1))
        assert row["standard_error"] == pytest.approx(spread / np.sqrt(len(margins)))
    assert row["win_rate"] == pytest.approx(sum(margins > 0) / len(margins))
    assert row["draw_rate"] == pytest.approx(sum(margins == 0) / len(margins))
    assert row["commits"] == list(dict.fromkeys(s.provenance["commit"] for s in record.segments))
    assert row["clean"]
    assert row["set"].startswith("published-")
    return margins


def check_views(folder: Path) -> int:
    """All rows, differences and cells of the views in a folder; how many rows there are."""
    store, count = RecordStore(folder / RECORDS), 0
    for result in views(folder).values():
        if "rows" in result and isinstance(result["rows"], dict):
            margins = {name: check_row(row, store) for name, row in result["rows"].items()}
            for pair, difference in result["differences"].items():
                names = re.fullmatch(r"\((.*)\) - \((.*)\)", pair)
                assert names is not None
                shorter = difference["deals"]
                change = margins[names[1]][:shorter] - margins[names[2]][:shorter]
                assert difference["mean"] == pytest.approx(change.mean(), abs=1e-9)
                error = change.std(ddof=1) / np.sqrt(shorter)
                assert difference["standard_error"] == pytest.approx(error)
            count += len(margins)
        for cell in result.get("cells", ()):
            margins_of_cell = check_row(cell["match"], store)
            if "over_first" in cell:
                first = check_row(result["cells"][0]["match"], store)
                change = margins_of_cell - first
                assert cell["over_first"]["value"] == pytest.approx(change.mean(), abs=1e-9)
            count += 1
    return count


def test_views_are_what_the_records_say() -> None:
    check_views(COMMITTED)
    for path in (COMMITTED / RECORDS).glob("*.json"):
        read_record(path)


def test_every_record_is_cited() -> None:
    """What no results file cites is of a player that is no longer published."""
    cited = set()
    for result in views(COMMITTED).values():
        rows = result.get("rows", {})
        cited |= {row["match"] for row in rows.values()} if isinstance(rows, dict) else set()
        cited |= {cell["match"]["match"] for cell in result.get("cells", ())}
    assert {path.stem.rpartition("-")[0] for path in (COMMITTED / RECORDS).iterdir()} == cited


def git(*arguments: str) -> bytes:
    return subprocess.check_output(["git", "-C", str(ROOT), *arguments], stderr=subprocess.DEVNULL)


@pytest.fixture
def history() -> set[str]:
    """All commits before this one; not known to an archive or a shallow clone."""
    try:
        if git("rev-parse", "--is-shallow-repository").split() == [b"false"]:
            return set(git("log", "--format=%H").decode().split())
    except (OSError, subprocess.CalledProcessError):
        pass
    pytest.skip("there is no history")


def test_commits_are_known(history: set[str], tmp_path: Path) -> None:
    """Records and results name commits of this repository, or one of it has their sources."""
    same, sources = docs.same_sources(COMMITTED), {}
    for commit in {*same.values()}:
        assert commit in history
        with tarfile.open(fileobj=io.BytesIO(git("archive", commit, "gongzhu_jax"))) as archive:
            archive.extractall(tmp_path / commit, filter="data")
        sources[commit] = source_digest(tmp_path / commit / "gongzhu_jax")
    named = set()
    for path in (*COMMITTED.glob("*.json"), *(COMMITTED / RECORDS).glob("*.json")):
        content = json.loads(path.read_text())
        for made in content.get("segments", [content]):
            if made["commit"] in history or "source" not in made:
                continue  # results from before sources were kept have nothing to be found by
            named.add(made["commit"])
            assert made["commit"] in same, path
            assert made["source"] == sources[same[made["commit"]]], path
    assert named == set(same)


@pytest.mark.usefixtures("committed")
def test_pages_are_what_the_results_say() -> None:
    marked = set()
    for name in docs.PAGES:
        page = (ROOT / "docs" / name).read_text()
        marked |= set(re.findall(r"<!-- begin (\S+) -->", page))
        assert docs.regenerate(page) == page
    assert marked == set(docs.SECTIONS)


def test_published_figures_stand_on_the_page() -> None:
    """Numbers of the page by plain arithmetic on the records, without the code of the report."""
    page = (ROOT / "docs" / "results.md").read_text()
    for name, result in views(COMMITTED).items():
        if name not in docs.SECTIONS or "rows" not in result:
            continue
        for row in result["rows"].values():
            margins = RecordStore(COMMITTED / RECORDS).get(row["match"], row["deals"]).margins
            error = np.std(margins, ddof=1) / np.sqrt(len(margins))
            assert f"{np.mean(margins):z.1f} ± {error:.1f}" in page
            assert row["commits"][0][:10] in page


def small_results(folder: Path) -> None:
    """Something published: a comparison of two short records."""
    work = Workplace("python -m experiments.compare rows=inputs publish=true", publish=True)
    work.provenance["clean"] = True
    chosen = choose_deals("published-1", 5)
    made = {"onehot, one deal": mixed_player, "averaged": high_player}
    records = {
        name: work.recorder.play(name, player, random_player, chosen, batch=8)
        for name, player in made.items()
    }
    pair = ("averaged", "onehot, one deal")
    result = {
        "name": "inputs",
        "rows": {name: record.summary() for name, record in records.items()},
        "differences": {f"({pair[0]}) - ({pair[1]})": difference(records, *pair)},
    }
    work.write("inputs", result, {"seed": 0})


@pytest.mark.usefixtures("committed")
def test_one_altered_margin_is_noticed(places: Path) -> None:
    for path in (places / "results" / RECORDS).glob("*.json"):
        path.unlink()
    for name, view in views(places / "results").items():
        if {"rows", "cells"} & view.keys():
            (places / "results" / f"{name}.json").unlink()
    small_results(places / "results")
    docs.rewrite_pages()
    assert check_views(places / "results") == 2
    page = (places / "pictures" / "results.md").read_text()
    assert docs.regenerate(page) == page
    first = views(places / "results")["inputs"]["rows"]["averaged"]
    assert f"{first['mean']:z.1f} ± {first['standard_error']:.1f}" in page
    path = next((places / "results" / RECORDS).glob(f"{first['match']}-*.json"))
    content = json.loads(path.read_text())
    content["margins"][3] += 1
    path.write_text(json.dumps(content))
    with pytest.raises(AssertionError):
        check_views(places / "results")


def test_the_arena_under_load_has_its_tables() -> None:
    row = {"games": 4, "lost_or_wrong": 0, "plays_per_second": 9.5, "memory_mb": 300.5}
    row |= {"median_ms": 2.0, "p99_ms": 3.0, "most_ms": 4.0}
    people = {"tables": 2, "player": "greed", "answers_per_second": 1.5}
    people |= {"median_seconds": 0.2, "p99_seconds": 0.3, "most_seconds": 0.4}
    whole = {name: value for name, value in row.items() if name != "memory_mb"}
    section = section_of("arena_load", {"rounds": [row], **whole, "people": people})
    bots, persons = (table.lines for table in section.tables)
    assert bots[1] == ["1", "4", "0", "9.5", "2", "3", "4", "300.5"]
    assert bots[2] == ["all", "4", "0", "9.5", "2", "3", "4", ""]
    assert persons[1] == ["greed", "2", "1.5", "0.2", "0.3", "0.4"]
    assert len(section_of("arena_load", {"rounds": [row], **whole}).tables) == 1
