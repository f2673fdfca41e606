"""What the first pages show works as it is shown, and every link leads somewhere."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
OUTSIDE_DOCS = ("README.md", "README.zh.md", "CONTRIBUTING.md")


QUICK = {name: os.environ[name] for name in ("XLA_FLAGS", "JAX_COMPILATION_CACHE_DIR")}
"""As all tests compile; nothing else of the environment reaches what a reader would start."""


def run(code: str) -> str:
    """What a script prints."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={"JAX_PLATFORMS": "cpu", "PYTHONPATH": str(ROOT), **QUICK},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


SNIPPETS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


def test_first_snippet_uses_each_key_once() -> None:
    """The key that deals must not be the one from which the keys of the plays come."""
    keys = re.findall(r"game\.deal\((\w+)\)|split\((\w+), 52\)", SNIPPETS[0])
    assert sorted(map("".join, keys)) == ["deal_key", "play_key"]
    points = [float(word) for word in run(SNIPPETS[0]).strip(" []\n").split()]
    assert len(points) == 4
    assert all(-150 < mean < 0 for mean in points)  # random players lose points


def test_second_snippet_prints_a_card() -> None:
    assert '"scrofa-strong"' in SNIPPETS[1]
    assert run(SNIPPETS[1].replace("scrofa-strong", "if")) in ("S3\n", "SQ\n")


@pytest.mark.parametrize("name", OUTSIDE_DOCS)
def test_links_of_pages_outside_the_site(name: str) -> None:
    links = re.findall(r"\]\(([^)#\s]+)", (ROOT / name).read_text())
    assert len(links) > 2
    missing = [link for link in links if "://" not in link and not (ROOT / link).exists()]
    assert missing == []


def test_files_that_pages_name_are_here() -> None:
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    folders = "configs|deploy|docs|examples|experiments|gongzhu_jax|results|tests"
    named = {
        (page.name, name)
        for page in pages
        if page.name != "comparison.md"  # names files of other projects, and has a test of its own
        for name in re.findall(rf"`((?:{folders})/[\w./-]*\w)[/`]", page.read_text())
    }
    assert len(named) > 50
    assert [pair for pair in sorted(named) if not (ROOT / pair[1]).exists()] == []


def test_site_builds_without_warnings(tmp_path: Path) -> None:
    """Links, anchors and names of documented objects are checked by the build."""
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    page = (tmp_path / "reference" / "game" / "index.html").read_text()
    assert "make_view" in page
    assert (tmp_path / "notebooks" / "first_game" / "index.html").exists()


def test_sentences_that_readers_stumbled_over() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    text = "\n".join(page.read_text() for page in pages)
    for phrase in ("which nothing was chosen by", "Nobody waits for nobody"):
        assert phrase not in text


def test_what_users_look_for_is_written_where_they_look() -> None:
    console = (ROOT / "docs" / "console.md").read_text()
    for field in ("`seat`", "`hand`", "`leader`", "`plays`", "`stage`"):  # of `analyse FILE`
        assert field in console
    for page in ("console.md", "training.md", "options.md"):
        assert "*best*" in (ROOT / "docs" / page).read_text() or page == "options.md"
    assert "its best checkpoint is taken" in (ROOT / "docs" / "options.md").read_text()
