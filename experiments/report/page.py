"""The report of `experiments.reproduce`, as Markdown and as one HTML page with everything in it.
Every figure has four columns: the paper, our published figure, what this machine has just played,
and whether the two of ours agree."""

import base64
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt

from experiments.report.markdown import markdown, markdown_table, pictures
from experiments.report.sections import section_of, to_be_played
from experiments.report.verify import Verification
from gongzhu_jax.files import write_whole

TITLE = "ScrofaZero, reproduced: the paper beside ours"
LEGEND = "± is one standard error. Where the paper's numbers are from stands above them."
STYLE = """
:root { color-scheme: light dark; --line: #8884; --soft: #8881; --strong: #2a7a4b; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h1 { line-height: 1.2; } h2 { margin-top: 3rem; border-bottom: 2px solid var(--strong); }
table { border-collapse: collapse; margin: .5rem 0 1.5rem; font-variant-numeric: tabular-nums;
  font-size: .85rem; display: block; overflow-x: auto; white-space: nowrap; }
th, td { padding: .25rem .7rem; border-bottom: 1px solid var(--line); text-align: right; }
th:first-child, td:first-child { text-align: left; } th { background: var(--soft); }
img { max-width: 100%; background: white; border-radius: 4px; } summary { cursor: pointer; }
.verdict { font-weight: 600; border-left: 4px solid var(--strong); padding-left: .8rem; }
.verdict.bad { border-color: #b3261e; } code { font-size: .85em; overflow-wrap: anywhere; }
"""

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
    entries = [_entry(name, *both, verification) for name, both in documents.items()]
    entries = [
        entry.replace("\0", "\n\n".join(pictures(section, folder, report)))
        for section, entry in entries
    ]
    about = markdown([["what", ""], *([name, value] for name, value in facts.items())])
    verdict = verification.summary
    page = "\n\n".join([f"# {TITLE}", f"**{verdict}**", LEGEND, about, *entries]) + "\n"
    html, text = report.with_suffix(".html"), report.with_suffix(".md")
    report.parent.mkdir(parents=True, exist_ok=True)
    write_whole(text, page.encode())
    write_whole(html, _html(page, report.parent, verification.agrees).encode())
    return html, text


def _entry(
    name: str, published: Document | None, here: Document | None, verification: Verification
) -> tuple[Any, str]:
    """The section of one experiment and its text, with a mark where the pictures go."""
    shown = published or here
    section = section_of(name, shown["result"]) if shown else to_be_played(name)
    tables = [markdown_table(table) for table in section.tables]
    if published and here:
        mine = section_of(name, here["result"])
        by_caption = {(table.head, table.caption): table for table in mine.tables}
        tables = [
            markdown_table(table, table.beside(by_caption.get((table.head, table.caption)), said))
            for table, said in zip(section.tables, verification.compare(section, mine), strict=True)
        ]
    note = "" if here else " Not run on this machine."
    parts = [f"## {section.title}", section.words + note, *tables, "\0", *section.remarks]
    return section, "\n\n".join([*parts, _source(here)] if here else parts)


def _source(document: Document) -> str:
    state = "" if document["clean"] else " with changes"
    return (
        f"`this machine: {document['command']} · commit {document['commit'][:10]}{state} · "
        f"{document['date'][:10]} · {document['seconds']:.0f} s`"
    )


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
        f"<title>{TITLE}</title><style>{STYLE}</style></head><body>\n{body}</body></html>\n"
    )
