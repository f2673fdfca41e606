"""The report of all experiments as one HTML page, with everything in it, and as Markdown."""

import base64
import html
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from experiments.markdown import markdown
from experiments.progress import in_words
from experiments.report_sections import SECTIONS, Section, Table
from experiments.results import commit, machine
from gongzhu_jax.files import write_whole

TITLE = "ScrofaZero, reproduced: the paper beside ours"
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
.facts td { text-align: left; overflow-wrap: anywhere; }
nav { columns: 2; } .missing { opacity: .6; } code { font-size: .85em; overflow-wrap: anywhere; }
"""


def write_report(
    folder: Path, report: Path, about: Mapping[str, Any], times: Mapping[str, float]
) -> tuple[Path, Path]:
    """Writes <report>.html and .md from the results in `folder`; experiments without a result are
    named as not run."""
    kept = {name: _read(folder / f"{name}.json") for name in SECTIONS}
    facts = _facts(about, times)
    pages = {
        ".html": _html(folder, kept, facts, times),
        ".md": _markdown(folder, report, kept, facts),
    }
    report.parent.mkdir(parents=True, exist_ok=True)
    for ending, page in pages.items():
        write_whole(report.with_suffix(ending), page.encode())
    return report.with_suffix(".html"), report.with_suffix(".md")


def _read(path: Path) -> dict[str, Any] | None:
    return json.loads(path.read_text()) if path.is_file() else None


def _facts(about: Mapping[str, Any], times: Mapping[str, float]) -> dict[str, str]:
    """What the numbers depend on."""
    here = machine()
    return {
        "command": about["command"],
        "scale": about["scale"],
        "weights": f"SHA-256 {about['weights'][:16]}…",
        "commit": commit(),
        "machine": f"{here['cpu']}, {here['cores']} cores, {here['platform']}",
        "software": f"Python {here['python']}, jax {here['jax']}, {here['devices']}",
        "time": f"{in_words(sum(times.values()))} minutes for {len(times)} experiments",
    }


def _title(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _source(kept: Mapping[str, Any]) -> str:
    """Where the numbers of a section are from."""
    state = ", interrupted" if kept["result"]["interrupted"] else ""
    return (
        f"{kept['command']} · seed {kept['seed']} · commit {kept['commit'][:10]} · "
        f"{kept['date'][:10]}{state}"
    )


def _html(
    folder: Path,
    kept: Mapping[str, dict[str, Any] | None],
    facts: Mapping[str, str],
    times: Mapping[str, float],
) -> str:
    links, parts = [], []
    for name, found in kept.items():
        section = SECTIONS[name](found["result"]) if found else Section(_title(name), "Not run.")
        links.append(f'<a href="#{name}">{html.escape(section.title)}</a><br>')
        parts.append(f'<h2 id="{name}">{html.escape(section.title)}</h2>')
        css = "" if found else ' class="missing"'
        parts.append(f"<p{css}>{html.escape(section.words)}</p>")
        parts += [_html_table(table) for table in section.tables]
        parts += [_figure(folder / file, text) for file, text in section.pictures.items()]
        if found:
            took = f" · {in_words(times[name])} min" if name in times else ""
            settings = html.escape(json.dumps(found["config"]))
            parts.append(
                f'<p class="source"><code>{html.escape(_source(found))}{took}</code></p>'
                f'<details class="source"><summary>settings</summary><code>{settings}</code>'
                "</details>"
            )
    rows = "".join(
        f"<tr><th>{html.escape(name)}</th><td>{html.escape(value)}</td></tr>"
        for name, value in facts.items()
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{TITLE}</title><style>{STYLE}</style></head><body>\n<h1>{TITLE}</h1>\n"
        "<p>± is one standard error. The paper's numbers are as printed there.</p>\n"
        f"<table class='facts'>{rows}</table>\n<nav>{''.join(links)}</nav>\n"
        + "\n".join(parts)
        + "\n</body></html>\n"
    )


def _html_table(table: Table) -> str:
    def row(cells: list[str], tag: str) -> str:
        inner = "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells)
        return f"<tr>{inner}</tr>"

    head, *rest = table.lines
    body = "".join(row(cells, "td") for cells in rest)
    caption = f"<caption>{html.escape(table.caption)}</caption>" if table.caption else ""
    wide = ' class="wide"' if len(head) > 8 else ""
    return f"<div{wide}><table>{caption}{row(head, 'th')}{body}</table></div>"


def _figure(path: Path, caption: str) -> str:
    if not path.is_file():
        return f'<p class="missing">{html.escape(caption)}: no picture.</p>'
    data = base64.b64encode(path.read_bytes()).decode()
    text = html.escape(caption)
    return (
        f'<figure><img alt="{text}" src="data:image/png;base64,{data}">'
        f"<figcaption>{text}</figcaption></figure>"
    )


def _markdown(
    folder: Path,
    report: Path,
    kept: Mapping[str, dict[str, Any] | None],
    facts: Mapping[str, str],
) -> str:
    parts = [f"# {TITLE}", "± is one standard error. The paper's numbers are as printed there."]
    parts.append(markdown([["what", ""], *([name, text] for name, text in facts.items())]))
    for name, found in kept.items():
        if found is None:
            parts += [f"## {_title(name)}", "Not run."]
            continue
        section = SECTIONS[name](found["result"])
        parts += [f"## {section.title}", section.words, *markdown_tables(section)]
        for file, caption in section.pictures.items():
            link = os.path.relpath(folder / file, report.parent)
            parts.append(f"![{caption}]({link})")
        parts.append(f"`{_source(found)}`")
    return "\n\n".join(parts) + "\n"


def markdown_tables(section: Section) -> list[str]:
    """The tables of a section, with their captions."""
    return [
        "\n\n".join(filter(None, [table.caption, markdown(table.lines)]))
        for table in section.tables
    ]
