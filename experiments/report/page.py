"""The report of `experiments.reproduce`: one HTML page with everything in it, and Markdown. Every
figure has four columns: the paper, our published figure, what this machine has just played, and
whether the two of ours agree."""

import base64
import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.report.figures import Lines, Section, Table
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
table { border-collapse: collapse; margin: .5rem 0 1.5rem; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .7rem; border-bottom: 1px solid var(--line); text-align: right; }
th:first-child, td:first-child { text-align: left; } th { background: var(--soft); }
.wide { overflow-x: auto; } .wide table { font-size: .85rem; white-space: nowrap; }
figure { margin: 1.5rem 0; } img { max-width: 100%; background: white; border-radius: 4px; }
figcaption, .source { font-size: .85rem; opacity: .75; } caption { text-align: left; opacity: .85; }
.facts td { text-align: left; overflow-wrap: anywhere; } summary { cursor: pointer; }
.verdict { font-weight: 600; border-left: 4px solid var(--strong); padding-left: .8rem; }
.verdict.bad { border-color: #b3261e; }
nav { columns: 2; } .missing { opacity: .6; } code { font-size: .85em; overflow-wrap: anywhere; }
"""

Document = Mapping[str, Any]


@dataclass(frozen=True)
class Entry:
    """One experiment of the report."""

    name: str
    section: Section
    tables: Sequence[tuple[Table, Lines]]
    source: str  # where the numbers of this machine are from; empty if it was not run


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
    verdict = verification.summary
    pages = {
        ".html": _html(entries, folder, facts, verdict),
        ".md": _markdown(entries, folder, report, facts, verdict),
    }
    report.parent.mkdir(parents=True, exist_ok=True)
    for ending, page in pages.items():
        write_whole(report.with_suffix(ending), page.encode())
    return report.with_suffix(".html"), report.with_suffix(".md")


def _entry(
    name: str, published: Document | None, here: Document | None, verification: Verification
) -> Entry:
    source = _source(here) if here else ""
    if published is None:
        section = section_of(name, here["result"]) if here else to_be_played(name)
        return Entry(name, section, [(table, table.lines) for table in section.tables], source)
    section = section_of(name, published["result"])
    if here is None:
        return Entry(name, section, [(table, table.lines) for table in section.tables], source)
    mine = section_of(name, here["result"])
    words = verification.compare(section, mine)
    by_caption = {(table.head, table.caption): table for table in mine.tables}
    tables = [
        (table, table.beside(by_caption.get((table.head, table.caption)), said))
        for table, said in zip(section.tables, words, strict=True)
    ]
    return Entry(name, section, tables, source)


def _source(document: Document) -> str:
    state = "" if document["clean"] else " with changes"
    return (
        f"this machine: {document['command']} · commit {document['commit'][:10]}{state} · "
        f"{document['date'][:10]} · {document['seconds']:.0f} s"
    )


def _html(entries: Sequence[Entry], folder: Path, facts: Mapping[str, str], verdict: str) -> str:
    links, parts = [], []
    for entry in entries:
        section = entry.section
        links.append(f'<a href="#{entry.name}">{html.escape(section.title)}</a><br>')
        parts.append(f'<h2 id="{entry.name}">{html.escape(section.title)}</h2>')
        state = "" if entry.source else ' class="missing"'
        note = "" if entry.source else " Not run on this machine."
        parts.append(f"<p{state}>{html.escape(section.words)}{note}</p>")
        parts += [_html_table(table, lines) for table, lines in entry.tables]
        parts += [_picture(folder / file, text) for file, text in section.pictures.items()]
        parts += [f"<p>{html.escape(remark)}</p>" for remark in section.remarks]
        if entry.source:
            parts.append(f'<p class="source"><code>{html.escape(entry.source)}</code></p>')
    rows = "".join(
        f"<tr><th>{html.escape(name)}</th><td>{html.escape(value)}</td></tr>"
        for name, value in facts.items()
    )
    state = " bad" if "NOT AGREE" in verdict else ""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{TITLE}</title><style>{STYLE}</style></head><body>\n<h1>{TITLE}</h1>\n"
        f'<p class="verdict{state}">{html.escape(verdict)}</p>\n<p>{LEGEND}</p>\n'
        f"<table class='facts'>{rows}</table>\n<nav>{''.join(links)}</nav>\n"
        + "\n".join(parts)
        + "\n</body></html>\n"
    )


def _html_table(table: Table, lines: Lines) -> str:
    def row(cells: list[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(c)}</{tag}>" for c in cells) + "</tr>"

    head, *rest = lines
    body = row(head, "th") + "".join(row(line, "td") for line in rest)
    caption = html.escape(table.caption)
    if table.fold:
        text = f"<table>{body}</table>"
        return f"<details class='wide'><summary>{caption}</summary>{text}</details>"
    titled = f"<caption>{caption}</caption>" if caption else ""
    return f'<div class="wide"><table>{titled}{body}</table></div>'


def _picture(path: Path, caption: str) -> str:
    text = html.escape(caption)
    if not path.is_file():
        return f'<p class="missing">{text}: no picture.</p>'
    data = base64.b64encode(path.read_bytes()).decode()
    return (
        f'<figure><img alt="{text}" src="data:image/png;base64,{data}">'
        f"<figcaption>{text}</figcaption></figure>"
    )


def _markdown(
    entries: Sequence[Entry], folder: Path, report: Path, facts: Mapping[str, str], verdict: str
) -> str:
    parts = [f"# {TITLE}", f"**{verdict}**", LEGEND]
    parts.append(markdown([["what", ""], *([name, text] for name, text in facts.items())]))
    for entry in entries:
        section = entry.section
        note = "" if entry.source else " Not run on this machine."
        parts += [f"## {section.title}", section.words + note]
        parts += [markdown_table(table, lines) for table, lines in entry.tables]
        parts += pictures(section, folder, report)
        parts += section.remarks
        if entry.source:
            parts.append(f"`{entry.source}`")
    return "\n\n".join(parts) + "\n"
