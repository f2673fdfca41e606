"""Sections as Markdown."""

import os
from pathlib import Path

from experiments.report.figures import Lines, Section, Table


def markdown(lines: Lines) -> str:
    """Lines as a table; the first has the heads."""
    head, *rest = (f"| {' | '.join(line)} |" for line in lines)
    return "\n".join([head, "|---" * len(lines[0]) + "|", *rest])


def markdown_table(table: Table, lines: Lines | None = None) -> str:
    """A table with its caption; long ones fold away."""
    text = markdown(table.lines if lines is None else lines)
    if table.fold:
        summary = table.caption or table.head
        return f"<details><summary>{summary}</summary>\n\n{text}\n\n</details>"
    return f"{table.caption}\n\n{text}" if table.caption else text


def pictures(section: Section, folder: Path, page: Path) -> list[str]:
    """Links to the pictures of a section that are there."""
    return [
        f"![{caption}]({os.path.relpath(folder / file, page.parent)})"
        for file, caption in section.pictures.items()
        if (folder / file).is_file()
    ]
