"""The core and its satellites, and the layers in them: who may import whom. Imports point down only.

The table is that of docs/architecture.md. It holds for imports, also inside functions, and for what `components.json`
lists.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from maeil import Component, Mind, Topology, World
from quorum.agents.llm.provided import ProvidedModel
from quorum.agents.skills import WorldSkills
from quorum.configuration.providers.config import ModelConfig

ROOT = Path(__file__).resolve().parents[1]
WORLDS = {
    "cube_env": "core",
    "crafter_env": "open_world",
    "llamac_env": "llamac_worlds",
    "lbf_env": "other_worlds",
    "overcooked_env": "other_worlds",
    "pettingzoo_env": "other_worlds",
}
"""The package of each world, and the part of `quorum` whose minds know it."""
SATELLITES: dict[str, tuple[str, ...]] = {
    "open_world": (),
    "methods": (),
    "what_if": (),
    "study": (),
    "train": (),
    "view": (),
    "llamac_worlds": (),
    "other_worlds": (),
    "more_providers": (),
    "cluster": (),
}
"""The satellites in `quorum/`, each with those that it may import; the core imports none."""
ROOMS: dict[str, tuple[str, ...]] = {
    "agents": (),
    "topologies": (),
    "process": (),
    "display": ("agents",),
    "storage": ("display",),
    "installation": ("agents", "display"),
    "configuration": ("agents", "display", "storage", "installation"),
    "new": ("storage", "configuration"),
    "episode": ("agents", "process", "display", "storage", "installation", "configuration"),
}
ROOMS["runs"] = ("episode", *ROOMS["episode"])
ROOMS["sweeps"] = ROOMS["comparison"] = ("runs", *ROOMS["runs"])
ROOMS["verbs"] = ("sweeps", "comparison", "new", *ROOMS["sweeps"])
"""The packages of the core, each with those below it."""
FACE = ("__init__", "__main__", "_current_folder", "answers", "api", "cli", "conversions", "spi")
"""The modules at the top of `quorum`: what programs call, above all rooms."""
CONTRACTS = {
    "acting", "actions", "calls", "component", "contracts", "controllers", "dig", "errors", "extension", "judging",
    "memory", "messages", "mind", "outcomes", "plans", "seeds", "stages", "tasks", "testing", "together", "topology",
    "trace", "world",
}  # fmt: skip
"""The modules of `maeil` that worlds, topologies and minds may use."""
MINDS = ("naive", "llamac", "rules")
SHARED = ("answer_parts", "skills", "coordination", "prompting", "llm")
AGENTS = {
    **{layer: SHARED[place + 1 :] for place, layer in enumerate(SHARED)},
    **dict.fromkeys(MINDS, SHARED),
    "simulated": (*MINDS, *SHARED),
}
"""The packages of `agents`, each with those below it. A mind knows no other mind."""


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


def part_of(name: str) -> str | None:
    """Return the part that a dotted name belongs to: base, maeil, core, a satellite; None: none."""
    top, _, rest = name.partition(".")
    if top == "quorum":
        inside = rest.partition(".")[0]
        return inside if inside in SATELLITES else "core"
    return {"quorum_base": "base", "maeil": "maeil", "quorum_harness": "core", **WORLDS}.get(top)


def violations(path: str, source: str) -> list[str]:
    """Return every import that the layers do not have.

    Args:
        path: of the file, from the root of the repository.
        source: its text.
    """
    return [f"{path}:{line}: {name}" for line, name in modules(source) if not _allowed(Path(path), name)]


def _allowed(file: Path, name: str) -> bool:
    if name.startswith("."):
        return False  # a relative import hides what it reaches
    if name == "import_module(...)":
        return file.as_posix() in COMPOSED
    if name.split(".", maxsplit=1)[0] in LINKS:
        return False  # a top-level name of the checkout, which a wheel does not have
    own, target = part_of(".".join(file.with_suffix("").parts)), part_of(name)
    if target is None:
        return True
    if own == "base":
        return target == "base" and (file.parts[1] != "environments" or name.split(".")[1] == "environments")
    if own == "maeil":
        return target in ("base", "maeil")
    if file.parts[0] in WORLDS:
        return _allowed_in_world(file, name)
    if name.split(".", maxsplit=1)[0] in WORLDS:
        return _knows(file, name)
    if target in SATELLITES:
        assert own is not None
        return target == own or target in SATELLITES.get(own, ())
    return own in SATELLITES or _allowed_in_core(file, name)


def _allowed_in_world(file: Path, name: str) -> bool:
    """A world imports itself and the base; its `world.py` and `symbolic/` import contracts of the loop."""
    top, *inside = name.split(".")
    if top in (file.parts[0], "quorum_base"):
        return True
    return top == "maeil" and inside[0] in CONTRACTS and (file.name == "world.py" or "symbolic" in file.parts)


def _knows(file: Path, name: str) -> bool:
    """Whether a file of `quorum` may import from a world: its public face, where minds know it."""
    top, *inside = name.split(".")
    own = part_of(".".join(file.with_suffix("").parts))
    if own == "core":
        return file.parts[:4] == ("quorum", "agents", "skills", "cube") and top == "cube_env" and len(inside) <= 1
    return WORLDS[top] in (own, "core") and len(inside) <= 1


def _allowed_in_core(file: Path, name: str) -> bool:
    top, *inside = name.split(".")
    room = file.parts[1].removesuffix(".py") if len(file.parts) > 1 else "quorum_harness"
    if top == "maeil":
        return inside[0] in CONTRACTS or room not in ("agents", "topologies")
    if top == "quorum_base":
        return True
    if top == "quorum_harness":
        return room in ("__main__", "episode")  # `quorum check` has it look for files of other distributions
    target = inside[0]
    if room == "quorum_harness":
        return target == "cli"
    if room == "agents" and target == "agents":
        return _allowed_in_agents(file, inside[1:])
    if room in ROOMS:
        return target == room or target in ROOMS[room]
    if room == "cli":
        return target in ("verbs", "display", "process", "installation")
    return room in FACE and target != "*" and (target != "verbs" or room == "spi")


def _allowed_in_agents(file: Path, inside: list[str]) -> bool:
    layer, target = file.parts[2].removesuffix(".py"), inside[0]
    if target == "skills" and inside[1] == "cube":
        return file.parts[2:4] == ("skills", "cube")  # the skills of a world are its own
    return layer == target or target in AGENTS.get(layer, ()) or file.name == "__init__.py" == file.parts[2]


LINKS = ("agents", "topologies", "cli", "configs", "prompts")
COMPOSED = {
    "quorum/configuration/plugins.py", "quorum/installation/packages.py", "quorum_harness.py", "pettingzoo_env/game.py",
}  # fmt: skip
"""Who may import a module by a name that is not written there: `--plugin`, packages of extras, `env.id`."""


def _files() -> list[Path]:
    packages = (*WORLDS, "quorum_base", "maeil", "quorum")
    return [ROOT / "quorum_harness.py", *sorted(file for name in packages for file in (ROOT / name).rglob("*.py"))]


@pytest.mark.parametrize("package", ["quorum_harness.py", *WORLDS, "quorum_base", "maeil", "quorum"])
def test_a_file_imports_only_what_its_layer_may(package: str) -> None:
    files = [file for file in _files() if file.relative_to(ROOT).parts[0] == package]
    assert files
    found = [violations(str(file.relative_to(ROOT)), file.read_text(encoding="utf-8")) for file in files]
    assert [line for lines in found for line in lines] == []


def foreign_places(owner: str, listed: str) -> list[str]:
    """Return what a `components.json` lists that is in another part.

    Args:
        owner: the part of the folder that the file is in.
        listed: the text of the file.
    """
    places = [place for group in json.loads(listed).values() for place in group.values()]
    allowed = (owner, "maeil", "base") if owner == "core" else (owner,)
    return [place for place in places if part_of(place.partition(":")[0]) not in allowed]


def test_a_folder_offers_only_what_its_own_part_holds() -> None:
    files = sorted((ROOT / "quorum").rglob("components.json"))
    assert {part_of(".".join(file.relative_to(ROOT).parts)) for file in files} == {"core", *SATELLITES}
    for file in files:
        owner = part_of(".".join(file.relative_to(ROOT).parts))
        assert foreign_places(str(owner), file.read_text(encoding="utf-8")) == [], file


def test_a_foreign_place_in_a_list_is_found() -> None:
    listed = '{"verbs": {"blame": "quorum.what_if.verbs.blame:verb"}, "worlds": {"cube": "cube_env.world:component"}}'
    assert foreign_places("core", listed) == ["quorum.what_if.verbs.blame:verb"]
    assert foreign_places("what_if", listed) == ["cube_env.world:component"]
    assert foreign_places("view", '{"verbs": {"view": "quorum.view.verbs.view:verb"}}') == []


def test_this_distribution_declares_no_component_in_its_metadata() -> None:
    """Or a checkout without a satellite's folder would look for it."""
    assert "[project.entry-points" not in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def test_the_contributors_page_lists_these_layers() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8").partition("## Layers")[2].partition("\n## ")[0]
    named = set(re.findall(r"`(\w+)`", text))
    assert {*ROOMS, *SATELLITES, *AGENTS} <= named


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


def test_every_package_has_its_place() -> None:
    packages = {path.name.removesuffix(".py") for path in (ROOT / "quorum").iterdir() if _holds_code(path)}
    assert packages == {*ROOMS, *SATELLITES, *(name for name in FACE if name[0] != "_")}
    agents = {path.name.removesuffix(".py") for path in (ROOT / "quorum" / "agents").iterdir() if _holds_code(path)}
    assert agents == set(AGENTS)
    assert {path.parent.name for path in (ROOT / "quorum" / "agents" / "skills").glob("*/__init__.py")} == {"cube"}


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("quorum_base/inside.py", "from maeil.errors import EpisodeStop"),
        ("quorum_base/environments/wrappers.py", "from quorum_base.registry import Registry"),
        ("maeil/clock.py", "import cube_env"),
        ("maeil/clock.py", "def f():\n    from quorum.storage import files"),
        ("maeil/trace/reader.py", "from quorum.methods.repair.events import RepairCheck"),
        ("cube_env/kernel.py", "from maeil.world import World"),
        ("cube_env/world.py", "from maeil.scheduler import run_episode"),
        ("cube_env/world.py", "from crafter_env import Crafter"),
        ("cube_env/world.py", "from quorum.agents import rules"),
        ("quorum/topologies/ring.py", "from maeil.scheduler import run_episode"),
        ("quorum/topologies/ring.py", "from quorum.agents import rules"),
        ("quorum/agents/naive/mind.py", "from cube_env import concepts"),
        ("quorum/agents/naive/mind.py", "from quorum.agents.llamac import critic"),
        ("quorum/agents/naive/mind.py", "from quorum.agents.skills.cube import skills"),
        ("quorum/agents/naive/mind.py", "from quorum.configuration import registry"),
        ("quorum/agents/naive/mind.py", "from quorum.methods.dytopo.describe import DESCRIBE"),
        ("quorum/agents/naive/mind.py", "from . import answers"),
        ("quorum/agents/naive/mind.py", "from agents.llm import protocol"),
        ("quorum/agents/llm/cache.py", "from quorum.agents.simulated import SimulatedModel"),
        ("quorum/agents/simulated/model.py", "from quorum.methods.tom.simulated import play"),
        ("quorum/agents/simulated/model.py", "from importlib import import_module\nimport_module(f'a.{name}')"),
        ("quorum/agents/skills/cube/gates.py", "from crafter_env import Item"),
        ("quorum/agents/skills/cube/gates.py", "from cube_env.kernel import step"),
        ("quorum/agents/skills/cube/gates.py", "from importlib import import_module\nimport_module('cube_env.kernel')"),
        ("quorum/storage/files.py", "from quorum.runs import rows"),
        ("quorum/runs/rows.py", "from quorum.sweeps import plan"),
        ("quorum/runs/rows.py", "from quorum.what_if.branch.origin import BranchOrigin"),
        ("quorum/comparison/tables.py", "from quorum.sweeps import plan"),
        ("quorum/configuration/cell.py", "from quorum import cli"),
        ("quorum/verbs/run.py", "def f():\n    from quorum.view.viewer import command"),
        ("quorum/cli.py", "from quorum.sweeps import plan"),
        ("quorum/api.py", "from quorum.verbs.app import app"),
        ("quorum/view/viewer/page.py", "from quorum.what_if.extensions.probe.events import Belief"),
        ("quorum/what_if/blame/search.py", "from quorum.study.sheet import Sheet"),
        ("quorum/study/audit.py", "from quorum.what_if.branch.parent import Parent"),
        ("quorum/open_world/gates.py", "from crafter_env.kernels.jit import KERNELS"),
        ("quorum/methods/repair/cube.py", "from crafter_env import Item"),
        ("quorum/cluster/slurm.py", "from quorum.more_providers.batches import engine"),
    ],
)
def test_an_import_outside_the_layers_is_found(path: str, source: str) -> None:
    assert len(violations(path, source)) == 1


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("quorum_base/environments/wrappers.py", "from quorum_base.environments.errors import WorldError"),
        ("maeil/trace/reader.py", "from quorum_base.registry import own"),
        ("cube_env/world.py", "from maeil.world import World"),
        ("cube_env/symbolic/actions.py", "from maeil.actions import SymbolicAction"),
        ("crafter_env/kernels/jit.py", "from quorum_base.compilation import KernelSet"),
        ("quorum/topologies/ring.py", "from maeil.topology import ConversationState"),
        ("quorum/agents/skills/cube/gates.py", "from cube_env import Board"),
        ("quorum/agents/skills/cube/gates.py", "from quorum.agents.coordination.joint import Joint"),
        ("quorum/agents/simulated/model.py", "from quorum.agents.naive.answers import write"),
        ("quorum/episode/runner.py", "from maeil import run_episode"),
        ("quorum/cli.py", "from quorum.verbs.app import app"),
        ("quorum/api.py", "from quorum.sweeps.run import run_sweep"),
        ("quorum/open_world/gates.py", "from crafter_env import Item"),
        ("quorum/methods/repair/cube.py", "from cube_env import Face"),
        ("quorum/view/verbs/view.py", "def f():\n    from quorum.view.viewer import command"),
    ],
)
def test_an_import_of_the_layers_is_allowed(path: str, source: str) -> None:
    assert violations(path, source) == []
