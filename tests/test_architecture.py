"""Who may import whom, and that importing computes nothing."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import gongzhu_jax

ROOT = Path(gongzhu_jax.__file__).parent

LAYERS = {
    # package: the packages below it
    "game": set(),
    "network": {"game"},
    "search": {"game", "network"},
    "inference": {"game", "network", "search"},
    "training": {"game", "network", "search", "inference"},
    "opponents": {"game", "network", "inference"},
    "players": {"game", "network", "search", "inference", "opponents"},
    "evaluation": {"game", "players"},
    "mixture_training": {
        *("game", "network", "search", "training", "inference", "opponents", "players"),
        "evaluation",
    },
    "adapters": {"game", "network", "inference", "players"},
    "arena": {"game", "network", "inference", "players", "evaluation", "adapters"},
    "console": {"game", "players", "evaluation"},
}
FREE = {
    *("errors", "version", "files", "runtime", "ragged", "checkpoint", "records", "datasets"),
    "device_profile",
}
"""Modules at the top that every layer may use."""
NO_ALGORITHMS = FREE - {"records", "datasets"}
"""Those of them that know no layer."""
OUTSIDE = {"hydra", "omegaconf", "matplotlib", "rich", "tensorboardX"}
"""For programs around the package; the package itself does without."""
EXTRAS = {"pgx", "svgwrite", "pettingzoo", "gymnasium", "pyspiel", "open_spiel"}
"""Optional packages, for the adapters only."""
COMPUTES_AT_IMPORT = {"pgx_env", "pgx_drawing"}
"""Modules that import Pgx, which makes arrays when it is imported."""


def imports(path: Path) -> set[str]:
    """Full names of all that a file imports, wherever in it: "a.b" and, for names, "a.b.c"."""
    package = [ROOT.name, *path.relative_to(ROOT).parts[:-1]]
    names = set()
    for node in ast.walk(ast.parse(path.read_text(), str(path))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            names |= {module} | {f"{module}.{alias.name}" for alias in node.names}
    return names


def parts_used(path: Path) -> set[str]:
    """Layers and top modules of the package that a file imports from."""
    names = [name.split(".") for name in imports(path)]
    known = set(LAYERS) | FREE
    return {name[1] for name in names if name[0] == ROOT.name and len(name) > 1} & known


def files() -> list[Path]:
    paths = sorted(ROOT.rglob("*.py"))
    assert len(paths) > 10
    return paths


def part_of(path: Path) -> str:
    """The layer or the top module that a file is, "" for the package itself."""
    first = path.relative_to(ROOT).parts[0]
    return first.removesuffix(".py").replace("__init__", "")


def test_parts_are_known() -> None:
    """A new layer or top module needs a place in the order."""
    assert {part_of(path) for path in files()} <= set(LAYERS) | FREE | {""}


def test_layers() -> None:
    wrong = [
        f"{path.relative_to(ROOT)} imports {used}"
        for path in files()
        if part_of(path) in LAYERS
        for used in parts_used(path) - FREE - {part_of(path)} - LAYERS[part_of(path)]
    ]
    assert wrong == []


def test_top_modules_know_no_algorithm() -> None:
    wrong = [
        f"{path.name} imports {used}"
        for path in files()
        if part_of(path) in NO_ALGORITHMS
        for used in parts_used(path) & (set(LAYERS) - {"game"})
    ]
    assert wrong == []


def test_files_are_short() -> None:
    """A file can be read in one sitting."""
    long = {
        str(path.relative_to(ROOT)): count
        for path in files()
        if (count := len(path.read_text().splitlines())) > 300
    }
    assert long == {}


def docstrings(path: Path) -> list[str]:
    """All texts that stand alone: docstrings, and those below constants."""
    return [
        node.value.value
        for node in ast.walk(ast.parse(path.read_text(), str(path)))
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    ]


def test_docstrings_are_no_fragments() -> None:
    """One that begins with a preposition or a relative pronoun goes on from the name above it,
    which the pages of the reference do not do."""
    fragment = re.compile(r"(Of|To|From|By|With|For|As|That|Whose|And|Or) ")
    assert fragment.match("Of weights files.")
    everything = [*files(), *sorted((ROOT.parent / "experiments").rglob("*.py"))]
    texts = {str(path): docstrings(path) for path in everything}
    assert sum(map(len, texts.values())) > 1000
    wrong = [f"{path}: {text}" for path, of in texts.items() for text in of if fragment.match(text)]
    assert wrong == []


def test_nothing_of_the_programs_around() -> None:
    wrong = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in files()
        for name in imports(path)
        if name.split(".")[0] in OUTSIDE | {"experiments", "tests"}
    ]
    assert wrong == []


def test_optional_packages_are_for_adapters() -> None:
    wrong = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in files()
        if part_of(path) != "adapters"
        for name in imports(path)
        if name.split(".")[0] in EXTRAS
    ]
    assert wrong == []


def test_the_walk_sees_imports(tmp_path: Path) -> None:
    """The checks above would pass on nothing; here is what they must see."""
    assert "gongzhu_jax.game.cards" in imports(ROOT / "game" / "env.py")
    assert parts_used(ROOT / "network" / "features.py") == {"game"}
    assert "errors" in parts_used(ROOT / "records.py")
    assert "pgx" in imports(ROOT / "adapters" / "pgx_env.py")


def test_importing_computes_nothing() -> None:
    """No array is made at module level: after importing all modules no device was touched."""
    modules = [
        ".".join([ROOT.name, *path.relative_to(ROOT).with_suffix("").parts]).removesuffix(
            ".__init__"
        )
        for path in files()
        if path.name != "__main__.py" and path.stem not in COMPUTES_AT_IMPORT
    ]
    code = "\n".join(
        [
            "import importlib",
            f"for name in {modules!r}:",
            "    importlib.import_module(name)",
            "    from jax._src import xla_bridge",
            "    assert not xla_bridge._backends, name",
        ]
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
