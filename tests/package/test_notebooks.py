"""The notebooks run from the first cell to the last, here with small sizes; as they are kept, they
have been run, and their pictures are inside."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

BOOKS = sorted((Path(__file__).parents[2] / "docs" / "notebooks").glob("*.ipynb"))
SMALL_PLAYER = '{"scenarios.draws": 9, "search.base": 0, "search.per_legal": 1}'
SMALL = {
    "first_game": "GAMES = 10",
    "ask_why": f"OPTIONS = {SMALL_PLAYER}",
    "train": "EPOCHS, GAMES, WIDTH, EVALUATE_DEALS = 2, 64, 8, 2",
    "sweep": f"DEALS, BETAS, OPTIONS = 2, [0.0, 0.1], {SMALL_PLAYER}",
}
PICTURES = {"image/svg+xml", "image/png", "text/html"}


def test_all_are_here() -> None:
    assert {path.stem for path in BOOKS} == set(SMALL)


@pytest.mark.parametrize("path", BOOKS, ids=lambda path: path.stem)
def test_kept_with_their_pictures(path: Path) -> None:
    cells = [cell for cell in nbformat.read(path, 4).cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    outputs = [output for cell in cells for output in cell.outputs]
    assert not [output for output in outputs if output.output_type == "error"]
    assert sum(bool(PICTURES & set(output.get("data", {}))) for output in outputs) >= 1


@pytest.mark.slow
@pytest.mark.parametrize("path", BOOKS, ids=lambda path: path.stem)
@pytest.mark.filterwarnings("default")  # those of the kernel's own packages
def test_runs(path: Path, tmp_path: Path) -> None:
    book = nbformat.read(path, 4)
    sizes = [n for n, cell in enumerate(book.cells) if "sizes" in cell.metadata.get("tags", [])]
    assert len(sizes) == 1
    book.cells.insert(sizes[0] + 1, nbformat.v4.new_code_cell(SMALL[path.stem]))
    client = NotebookClient(book, timeout=900, resources={"metadata": {"path": str(tmp_path)}})
    client.execute()
