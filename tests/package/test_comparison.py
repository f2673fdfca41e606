"""Nothing is claimed for this package in the comparison without a page or a test behind it."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "comparison.md").read_text()


def test_every_claim_names_a_page_or_a_test() -> None:
    rows = [line.split(" | ")[1] for line in PAGE.splitlines() if line.startswith("| ")]
    claims = [row for row in rows if not row.startswith(("gongzhu_jax", "one game"))]
    assert len(claims) > 10
    for claim in claims:
        pages = re.findall(r"\]\(([^)#]+)", claim)
        files = re.findall(r"`((?:tests|examples)/[^`]*)`", claim)
        assert pages or files, claim
        assert all((ROOT / "docs" / page).exists() for page in pages), claim
        assert all((ROOT / file).exists() for file in files), claim
