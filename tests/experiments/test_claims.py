"""The table of the paper's claims: what it refers to is there, and verdicts follow from figures."""

import re
from pathlib import Path

import pytest

from experiments.common.provenance import ROOT
from experiments.common.results import PLACES
from experiments.paper.published import PaperNumber
from experiments.report import claims
from experiments.report.docs import SECTIONS
from experiments.report.figures import Figure

PAGE = (ROOT / "docs" / "results.md").read_text()


@pytest.mark.parametrize("claim", claims.claims(), ids=lambda claim: claim.claim)
def test_what_a_claim_refers_to_is_there(
    claim: claims.Claim, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PLACES, "results", ROOT / "results")
    for experiment, label, *column in claim.figures:
        assert experiment in SECTIONS
        if (PLACES.results / f"{experiment}.json").is_file():
            line = claims.lines_of(experiment)[label]
            assert line.figures[column[0]] if column else line.figure
    if claim.link:
        assert (ROOT / "docs" / claim.link).is_file()


def test_links_lead_to_headings_of_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PLACES, "pictures", ROOT / "docs")
    monkeypatch.setattr(PLACES, "results", ROOT / "results")
    headings = re.findall(r"^#+ (.+)$", PAGE, re.MULTILINE)
    anchors = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
    links = re.findall(r"\]\(#([^)]+)\)", claims.table())
    assert len(links) > 20
    assert set(links) <= anchors


@pytest.mark.parametrize(
    ("value", "error", "holds", "verdict"),
    [
        (9.0, 3.0, "above", "reproduced"),
        (5.0, 3.0, "above", "not decided"),
        (-9.0, 3.0, "above", "not reproduced: the opposite"),
        (-9.0, 3.0, "below", "reproduced"),
        (9.0, 3.0, "below", "not reproduced: the opposite"),
        (5.0, 3.0, "zero", "not contradicted"),
        (-9.0, 3.0, "zero", "not reproduced"),
        (22.0, 3.0, "equal", "reproduced"),  # of 10 +- 4: 2.4 standard errors
        (28.0, 3.0, "equal", "differs"),  # 3.6
        (9.0, None, "above", "not decided"),
        (1.5, 1.0, "above", "not reproduced: far less"),  # of 10 +- 4: 2.1 standard errors
        (3.0, 2.0, "above", "not decided"),  # 1.6
    ],
)
def test_verdicts(value: float, error: float | None, holds: str, verdict: str) -> None:
    paper = [PaperNumber(10.0, "text", 4.0), PaperNumber(28.0, "logs", 1.0)]
    assert claims.judge(Figure(value, error), holds, paper) == verdict


def test_every_table_and_figure_of_the_paper_is_there() -> None:
    said = " ".join(claim.where for claim in claims.claims())
    assert {f"Figure {n}" for n in range(1, 5)} <= set(re.findall(r"Figure \d", said))
    assert {f"Table {n}" for n in range(1, 5)} <= set(re.findall(r"Table \d", said))


def test_what_is_still_to_be_played_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PLACES, "results", tmp_path)
    for claim in claims.claims():
        verdict = claims.verdict_on(claim, claims.measured(claim))
        assert verdict.startswith("**to be played**") == bool(claim.figures)
