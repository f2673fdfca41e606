"""The report of `experiments.reproduce`, as Markdown and as one HTML page with everything in it.
Every figure has four columns: the paper, our published figure, what this machine has just played,
and whether the two of ours agree."""

import base64
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt

from experiments.report.figures import markdown
from experiments.report.sections import section_of, to_be_played
from experiments.report.verify import Verification
from gongzhu_jax.files import write_whole

TITLE = "ScrofaZero, reproduced: the paper beside ours"
LEGEND = "± is one standard error. Where the paper's numbers are from stands above them."
STYLE = Path(__file__).with_name("style.css")
Document = Mapping[str, Any]


def write_report(
    report: Path,
    folder: Path,
    documents: Mapping[str, tuple[Document | None, Document | None]],
    facts: Mapping[str, str],
    verification: Verification,
) -> tuple[Path, Path]:
    """Writes <report>.html and .md.

    Args:
      folder: has the pictures.
      documents: for each experiment the published result and that of this machine.
      facts: what the numbers depend on.
    """
    entries: list[str] = []
    for name, (published, here) in documents.items():
        shown = published or here
        section = section_of(name, shown["result"]) if shown else to_be_played(name)
        lines = [table.lines for table in section.tables]
        if published and here:
            lines = verification.compare(section, section_of(name, here["result"]))
        note = "" if here else " Not run on this machine."
        entries += [f"## {section.title}", section.words + note]
        entries += [table.markdown(of) for table, of in zip(section.tables, lines, strict=True)]
        entries += ["\n\n".join(section.links(folder, report)), *section.remarks]
        if here:
            state = "" if here["clean"] else " with changes"
            entries.append(
                f"`this machine: {here['command']} · commit {here['commit'][:10]}{state} · "
                f"{here['date'][:10]} · {here['seconds']:.0f} s`"
            )
    about = markdown([["what", ""], *([name, value] for name, value in facts.items())])
    verdict = f"**{verification.summary}**"
    page = "\n\n".join([f"# {TITLE}", verdict, LEGEND, about, *entries]) + "\n"
    html, text = report.with_suffix(".html"), report.with_suffix(".md")
    report.parent.mkdir(parents=True, exist_ok=True)
    write_whole(text, page.encode())
    write_whole(html, _html(page, report.parent, not verification.disagreements).encode())
    return html, text


def _html(page: str, folder: Path, agrees: bool) -> str:
    """The page as HTML, with its pictures in it."""
    body = MarkdownIt("commonmark", {"html": True}).enable("table").render(page)
    state = "verdict" if agrees else "verdict bad"
    body = body.replace("<p><strong>", f'<p class="{state}"><strong>', 1)

    def embedded(match: re.Match) -> str:
        data = base64.b64encode((folder / match[1]).read_bytes()).decode()
        return f'<img src="data:image/png;base64,{data}"'

    body = re.sub(r'<img src="([^"]+)"', embedded, body)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{TITLE}</title><style>\n{STYLE.read_text()}</style></head><body>\n"
        f"{body}</body></html>\n"
    )
