"""The table of design section 1: who may import whom. Arrows point down it only."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
WORLDS = {"cube_env": ("cube",), "crafter_env": ("crafter",), "llamac_env": ("transport", "squeeze")}
"""The worlds of each package, after which the files are named that may know them."""
ROOMS = (*WORLDS, "maeil", "topologies", "agents", "experiments", "cli")
CONTRACTS = {
    "actions",
    "component",
    "drawing",
    "errors",
    "messages",
    "mind",
    "plans",
    "seeds",
    "stages",
    "tasks",
    "topology",
    "world",
}


def imports(source: str) -> Iterator[tuple[int, str]]:
    """Give line and name of every import, also of those inside functions and by a literal name.

    A name is `module` for `import module`, and `module:name` for `from module import name`.
    """
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                yield node.lineno, "." * node.level
            yield from ((node.lineno, f"{node.module}:{alias.name}") for alias in node.names if node.module)
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            if name in ("import_module", "__import__"):
                yield node.lineno, str(node.args[0].value)


def violations(path: str, source: str) -> list[str]:
    """Give every import that the table does not have.

    Args:
        path: of the file, from the root of the repository.
        source: its text.
    """
    return [f"{path}:{line}: {name}" for line, name in imports(source) if not _allowed(Path(path), name)]


def _allowed(file: Path, name: str) -> bool:
    room = file.parts[0].removesuffix(".py")
    module, _, member = name.partition(":")
    target, _, inside = module.partition(".")
    if not target:
        return False  # a relative import hides which room it reaches
    if target not in ROOMS or target == room:
        return True
    match room:
        case "cli":
            return target == "experiments"
        case "experiments":
            return target != "cli"
        case "agents":
            public_face = target in WORLDS and not inside and _named_after(file, target)
            return _contract(target, inside or member) or public_face
        case "topologies":
            return _contract(target, inside or member)
        case _ if room in WORLDS:
            return _contract(target, inside or member) and (file.name == "world.py" or "symbolic" in file.parts)
    return False  # maeil imports nothing of the project


def _contract(target: str, module: str) -> bool:
    return target == "maeil" and module.partition(".")[0] in CONTRACTS


def _named_after(file: Path, world: str) -> bool:
    return file.stem.split("_")[0] in WORLDS[world]


def _files() -> list[Path]:
    files = [ROOT / "cli.py"]
    for room in ROOMS:
        files += (ROOT / room).rglob("*.py")
    return sorted(files)


@pytest.mark.parametrize("file", _files(), ids=lambda file: str(file.relative_to(ROOT)))
def test_a_file_imports_only_what_its_room_may(file: Path) -> None:
    assert violations(str(file.relative_to(ROOT)), file.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("maeil/clock.py", "import cube_env"),
        ("maeil/clock.py", "def f():\n    from maeil.user_errors import UserError"),
        ("maeil/clock.py", "from agents import heuristic"),
        ("topologies/ring.py", "from maeil.scheduler import run_episode"),
        ("topologies/ring.py", "import maeil"),
        ("topologies/ring.py", "from maeil import Turn"),
        ("topologies/ring.py", "from agents import heuristic"),
        ("cube_env/kernel.py", "from maeil.world import World"),
        ("llamac_env/transport/board.py", "from maeil.plans import Task"),
        ("agents/heuristic/transport.py", "from cube_env import concepts"),
        ("agents/heuristic/llamac.py", "from llamac_env import Board"),
        ("cube_env/world.py", "from maeil.trace import Recorder"),
        ("cube_env/world.py", "from crafter_env import Crafter"),
        ("cube_env/world.py", "from agents import heuristic"),
        ("agents/heuristic/team.py", "from cube_env import concepts"),
        ("agents/heuristic/crafter.py", "from cube_env import concepts"),
        ("agents/heuristic/cube.py", "from cube_env.kernel import step"),
        ("agents/heuristic/cube.py", "import cube_env.kernel"),
        ("agents/heuristic/cube.py", "from importlib import import_module\nimport_module('cube_env.kernel')"),
        ("agents/naive.py", "from quorum.experiments.configuration.registry import minds"),
        ("agents/naive.py", "from maeil.scheduler import run_episode"),
        ("agents/naive.py", "from . import heuristic"),
        ("experiments/cell.py", "import cli"),
        ("cli.py", "from maeil.trace import read_trace"),
        ("cli.py", "if TYPE_CHECKING:\n    from maeil import World"),
    ],
)
def test_an_import_outside_the_table_is_found(path: str, source: str) -> None:
    assert len(violations(path, source)) == 1


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("cube_env/world.py", "from maeil.world import World"),
        ("cube_env/symbolic/actions.py", "from maeil.actions import SymbolicAction"),
        ("cube_env/env.py", "from cube_env.kernel import step\nimport numpy"),
        ("topologies/ring.py", "from maeil.topology import Floor"),
        ("llamac_env/transport/symbolic/actions.py", "from maeil.actions import SymbolicAction"),
        ("agents/heuristic/transport.py", "from llamac_env import Board"),
        ("agents/heuristic/squeeze.py", "from llamac_env import Game"),
        ("agents/heuristic/cube.py", "from cube_env import concepts"),
        ("agents/llamac/cube_gates.py", "from cube_env import concepts"),
        ("agents/naive.py", "from quorum.agents.llm import protocol"),
        ("experiments/episode.py", "from maeil import run_episode\nimport cube_env.world"),
        ("cli.py", "def f():\n    from quorum.experiments.configuration.cell import Cell"),
    ],
)
def test_an_import_of_the_table_is_allowed(path: str, source: str) -> None:
    assert violations(path, source) == []
