"""The layers of docs/architecture.md: who may import whom. Imports point down only."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from maeil import Component, Mind, Topology, World
from quorum.agents.llm.provided import ProvidedModel
from quorum.agents.skills import WorldSkills
from quorum.configuration.providers.config import ModelConfig

ROOT = Path(__file__).resolve().parents[1]
WORLDS = ("cube_env", "crafter_env", "lbf_env", "llamac_env", "overcooked_env", "pettingzoo_env")
INSIDE = ("agents", "cli.py", "experiments", "topologies")
"""The layers in the package `quorum`; what else is there is its face."""
SKILLS = {
    "cube": "cube_env",
    "crafter": "crafter_env",
    "transport": "llamac_env",
    "squeeze": "llamac_env",
    "foraging": "lbf_env",
    "overcooked": "overcooked_env",
}
"""The package of each world, which nothing in `agents` imports but `skills/<world>/`."""
CONTRACTS = {
    "acting", "actions", "calls", "compilation", "component", "contracts", "controllers",
    "dig", "digests", "drawing", "errors", "extension", "inside", "judging", "memory",
    "messages", "mind", "names", "ngrams", "outcomes", "painting", "plans", "registry", "seeds",
    "stages", "stopwatches", "tasks", "testing", "together", "topology", "user_errors", "world",
}  # fmt: skip
"""The modules of `maeil` that worlds, topologies and minds may use."""

EXPERIMENTS = {
    "common": (),
    "configuration": ("common",),
    "new": ("configuration", "common"),
    "serving": ("configuration", "common"),
    "episode": ("configuration", "common"),
    "results": ("episode", "configuration", "common"),
    "branch": ("results", "episode", "configuration", "common"),
    "tracking": ("results", "episode", "configuration", "common"),
    "sweep": ("branch", "results", "episode", "configuration", "common"),
    "blame": ("branch", "results", "episode", "configuration", "common"),
    "compare": ("results", "episode", "configuration", "common"),
    "viewer": ("results", "episode", "configuration", "common"),
    "replay": ("results", "episode", "configuration", "common"),
    "export": ("blame", "results", "episode", "configuration", "common"),
}
EXPERIMENTS["reproduce"] = ("compare", "sweep", *EXPERIMENTS["compare"])
EXPERIMENTS["study"] = ("compare", "sweep", *EXPERIMENTS["sweep"])
EXPERIMENTS["verbs"] = tuple(EXPERIMENTS)
"""The packages of `experiments`, each with those below it."""
MINDS = ("naive", "llamac", "policy", "rules")
METHODS = ("baselines", "drwell", "tom")
SHARED = ("answer_parts", "skills", "coordination", "prompting", "llm")
AGENTS = {
    **{layer: SHARED[place + 1 :] for place, layer in enumerate(SHARED)},
    **dict.fromkeys(MINDS, SHARED),
    "simulated": (*MINDS, *SHARED),
    **dict.fromkeys(METHODS, ("simulated", *SHARED)),
}
AGENTS["tom"] += ("naive",)
"""The packages of `agents`, each with those below it.

A mind knows no other mind, but `tom`, which asks the turns of `naive`. The simulated model knows no method: a method
brings what the model says.
"""


def modules(source: str) -> Iterator[tuple[int, str]]:
    """Yield line and dotted name of every import, also of those inside functions and by a literal name.

    `from a.b import c` yields `a.b.c`, whether `c` is a module or a member of one; `import a.b` yields `a.b.*`.
    """
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, f"{alias.name}.*") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            where = "." * node.level + (node.module or "")
            yield from ((node.lineno, f"{where}.{alias.name}") for alias in node.names)
        elif isinstance(node, ast.Call) and _name(node.func) in ("import_module", "__import__"):
            literal = node.args and isinstance(node.args[0], ast.Constant)
            yield node.lineno, f"{node.args[0].value}.*" if literal else "import_module(...)"  # type: ignore[attr-defined]


def _name(function: ast.expr) -> str:
    return getattr(function, "id", getattr(function, "attr", ""))


def test_the_contributors_page_lists_these_layers() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    _, experiments, agents = re.split(
        r"^\d\. ", text.partition("## Layers")[2].partition("\n4. ")[0], flags=re.MULTILINE
    )[1:]
    assert set(re.findall(r"`(\w+)`", experiments)) == EXPERIMENTS.keys()
    assert set(re.findall(r"`(\w+)`", agents)) == AGENTS.keys()


def violations(path: str, source: str) -> list[str]:
    """Return every import that the layers do not have.

    Args:
        path: of the file, from the root of the repository.
        source: its text.
    """
    return [f"{path}:{line}: {name}" for line, name in modules(source) if not _allowed(Path(path), name)]


def _allowed(file: Path, name: str) -> bool:
    if file.parts[0] == "quorum" and len(file.parts) > 1:
        file = file.relative_to("quorum") if file.parts[1] in INSIDE else file
    own = file.parts[0].removesuffix(".py")
    if name.startswith("."):
        return False  # a relative import hides what it reaches
    if name == "import_module(...)":
        return file.as_posix() in COMPOSED
    parts = name.split(".")
    if parts[0] in ("agents", "topologies", "experiments", "cli", "configs", "prompts"):
        return False  # a top-level name of the checkout, which a wheel does not have
    target = parts[1] if parts[0] == "quorum" and len(parts) > 1 else parts[0]
    inside = parts[2:] if parts[0] == "quorum" else parts[1:]
    if target not in (*WORLDS, "maeil", "agents", "topologies", "experiments", "cli", "quorum"):
        return True
    if file.parts[:2] == ("maeil", "environments") and inside[:1] != ["environments"]:
        return False  # it imports nothing of the project, not even of the loop
    if target == own:
        return _inside(file, inside)
    if file.parts[:2] == ("maeil", "extensions") and (target == "agents" or SKILLS.get(file.stem) == target):
        return True  # a method knows the contracts of minds; its file for a world knows that world
    match own:
        case "quorum":
            return target in ("agents", "experiments", "cli", "maeil")
        case "cli":
            return target == "experiments"
        case "experiments":
            return target not in ("cli", "quorum")
        case "agents":
            return _contract(target, inside) or _own_world(file, target, inside) or _of_method(file, target, inside)
        case "topologies":
            return _contract(target, inside) or _of_method(file, target, inside)
        case _ if own in WORLDS:
            compiles = file.name == "jit.py" and inside[:1] == ["compilation"]
            if target == "maeil" and inside[:1] == ["environments"]:
                return True
            return _contract(target, inside) and (file.name == "world.py" or "symbolic" in file.parts or compiles)
    return False  # maeil imports nothing of the project


def _contract(target: str, inside: list[str]) -> bool:
    return target == "maeil" and inside[:1] != [] and inside[0] in CONTRACTS


def _of_method(file: Path, target: str, inside: list[str]) -> bool:
    """Whether a file of a method imports an extension."""
    return target == "maeil" and inside[0] == "extensions" and file.parts[1] in (*METHODS, "dytopo.py")


def _own_world(file: Path, target: str, inside: list[str]) -> bool:
    """Whether a file of a world's skills imports the public face of that world: `from cube_env import Name`."""
    return file.parts[1] == "skills" and SKILLS.get(file.parts[2]) == target and len(inside) <= 1


def _inside(file: Path, inside: list[str]) -> bool:
    """Whether a file may import a module of the same top-level package."""
    layers = {"experiments": EXPERIMENTS, "agents": AGENTS}.get(file.parts[0])
    if layers is None or len(file.parts) < 2 or not inside:
        return True
    layer, target = file.parts[1].removesuffix(".py"), inside[0]
    if target == "skills" and inside[1] in SKILLS:
        return file.parts[1:3] == ("skills", inside[1])  # the skills of one world are its own
    return layer == target or target in layers.get(layer, ()) or (file.name == "__init__.py" and len(file.parts) == 2)


COMPOSED = {"quorum/configuration/plugins.py", "quorum/installation/packages.py", "maeil/extensions/__init__.py"}
COMPOSED |= {"pettingzoo_env/game.py"}
"""Who may import a module by a name that is not written there: `--plugin`, packages of extras, `env.id`."""


def _files() -> list[Path]:
    return sorted(file for package in (*WORLDS, "maeil", "quorum") for file in (ROOT / package).rglob("*.py"))


@pytest.mark.parametrize("package", [*WORLDS, "maeil", "quorum"])
def test_a_file_imports_only_what_its_layer_may(package: str) -> None:
    files = [file for file in _files() if file.relative_to(ROOT).parts[0] == package]
    assert files
    found = [violations(str(file.relative_to(ROOT)), file.read_text(encoding="utf-8")) for file in files]
    assert [line for lines in found for line in lines] == []


def test_what_a_contract_promises_is_never_asked_for_with_getattr() -> None:
    contracts = (Component, Mind, ModelConfig, ProvidedModel, Topology, World, WorldSkills)
    members = {name for kind in contracts for name in (*vars(kind), *inspect.get_annotations(kind))}
    found = [
        f"{file.relative_to(ROOT)}:{node.lineno}: {node.args[1].value}"
        for file in _files()
        if file.relative_to(ROOT).parts[:2] != ("maeil", "testing")  # which asks what an object has
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and _name(node.func) == "getattr" and isinstance(node.args[1], ast.Constant)
        if node.args[1].value in members
    ]
    assert found == []
    assert {"rounds", "price", "participants", "heuristic", "check_plan", "build"} <= members


def _holds_code(path: Path) -> bool:
    """Whether a path is a module or a package; a package that was removed may still have a folder of compiled files."""
    return path.name[0] not in "_." and (path.suffix == ".py" or any(path.glob("*.py")))


def test_every_package_has_its_layer() -> None:
    for name, layers in (("agents", AGENTS), ("experiments", EXPERIMENTS)):
        packages = {path.name.removesuffix(".py") for path in (ROOT / "quorum" / name).iterdir() if _holds_code(path)}
        assert packages == set(layers), name
    assert {path.parent.name for path in (ROOT / "quorum" / "agents" / "skills").glob("*/__init__.py")} == set(SKILLS)


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("maeil/clock.py", "import cube_env"),
        ("quorum/methods/repair/gate.py", "from cube_env import Face"),
        ("quorum/methods/repair/gate.py", "from quorum.storage import files"),
        ("agents/naive/mind.py", "from quorum.methods.dytopo.describing import DESCRIBE"),
        ("agents/simulated/model.py", "from quorum.methods.repair.rules import Notice"),
        ("agents/simulated/model.py", "from quorum.methods.tom.simulated import play"),
        ("agents/skills/contract.py", "from quorum.methods.repair.rules import Notice"),
        ("topologies/ring.py", "from quorum.methods.dytopo.describing import DESCRIBE"),
        ("quorum_base/environments/wrappers.py", "from maeil.world import World"),
        ("topologies/ring.py", "from quorum_base.environments.errors import WorldError"),
        ("maeil/clock.py", "def f():\n    from quorum.storage import files"),
        ("maeil/clock.py", "from quorum.agents import rules"),
        ("topologies/ring.py", "from maeil.scheduler import run_episode"),
        ("topologies/ring.py", "import maeil"),
        ("topologies/ring.py", "from quorum.agents import rules"),
        ("cube_env/kernel.py", "from maeil.world import World"),
        ("cube_env/kernel.py", "from quorum_base.compilation import numba"),
        ("cube_env/jit.py", "from maeil.world import World"),
        ("cube_env/world.py", "from maeil.trace import Recorder"),
        ("cube_env/world.py", "from crafter_env import Crafter"),
        ("agents/naive/mind.py", "from cube_env import concepts"),
        ("agents/naive/mind.py", "from quorum.agents.llamac import critic"),
        ("agents/naive/mind.py", "from quorum.agents.skills.cube import skills"),
        ("agents/naive/mind.py", "from quorum.configuration import registry"),
        ("agents/naive/mind.py", "from maeil.scheduler import run_episode"),
        ("agents/naive/mind.py", "from . import answers"),
        ("agents/naive/mind.py", "from agents.llm import protocol"),
        ("agents/llm/cache.py", "from quorum.agents.naive import mind"),
        ("agents/llm/cache.py", "from quorum.agents.simulated import SimulatedModel"),
        ("agents/skills/contract.py", "from quorum.agents.llamac import actor"),
        ("agents/skills/contract.py", "import cube_env"),
        ("agents/skills/cube/gates.py", "from crafter_env import Item"),
        ("agents/skills/cube/gates.py", "from cube_env.kernel import step"),
        ("agents/skills/cube/gates.py", "from quorum.open_world.scene import Scene"),
        ("agents/skills/cube/gates.py", "from importlib import import_module\nimport_module('cube_env.kernel')"),
        ("agents/simulated/model.py", "from importlib import import_module\nimport_module(f'a.{name}')"),
        ("quorum/storage/files.py", "from quorum.runs import rows"),
        ("quorum/runs/rows.py", "from quorum.sweeps import plan"),
        ("quorum/view/viewer/page.py", "from quorum.view.replay import film"),
        ("quorum/configuration/cell.py", "from quorum import cli"),
        ("quorum/runs/rows.py", "from quorum.verbs.options import Force"),
        ("quorum/verbs/run.py", "from quorum import cli"),
        ("cli.py", "from maeil.trace import read_trace"),
        ("cli.py", "if TYPE_CHECKING:\n    from maeil import World"),
    ],
)
def test_an_import_outside_the_layers_is_found(path: str, source: str) -> None:
    assert len(violations(path, source)) == 1


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("quorum/methods/repair/cube.py", "from cube_env import Face"),
        ("quorum/methods/dytopo/answer.py", "from quorum.agents.answer_parts import AnswerPart"),
        ("quorum/methods/tom/mind.py", "from quorum.methods.predictions import Predictions"),
        ("quorum/methods/tom/simulated.py", "from quorum.agents.simulated.reading import read_view"),
        ("quorum/methods/dytopo/topology.py", "from quorum.methods.dytopo.describing import DESCRIBE"),
        ("cube_env/world.py", "from maeil.world import World"),
        ("cube_env/symbolic/actions.py", "from maeil.actions import SymbolicAction"),
        ("crafter_env/kernels/jit.py", "from quorum_base.compilation import KernelSet"),
        ("cube_env/env.py", "from quorum_base.environments.errors import ActionError"),
        ("quorum_base/environments/wrappers.py", "from quorum_base.environments.errors import WorldError"),
        ("cube_env/env.py", "from cube_env.kernel import step\nimport numpy"),
        ("topologies/ring.py", "from maeil.topology import ConversationState"),
        ("quorum/llamac_worlds/transport/gates.py", "from llamac_env import Board"),
        ("agents/skills/cube/gates.py", "from quorum.agents.coordination.joint import Joint"),
        ("agents/naive/mind.py", "from quorum.agents.llm import protocol"),
        ("agents/simulated/model.py", "from quorum.agents.naive.answers import write"),
        ("quorum/episode/runner.py", "from maeil import run_episode\nimport cube_env.world"),
        ("quorum/verbs/run.py", "def f():\n    from quorum.view.viewer import command"),
        ("cli.py", "from quorum.verbs.app import app"),
    ],
)
def test_an_import_of_the_layers_is_allowed(path: str, source: str) -> None:
    assert violations(path, source) == []
