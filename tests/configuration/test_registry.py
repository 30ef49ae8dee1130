from __future__ import annotations

import sys

import pytest

from maeil.component import Component, ComponentConfig
from quorum.configuration.cell import Cell
from quorum.configuration.plugins import load_plugins
from quorum.configuration.registry import REGISTRIES
from quorum.installation.extension_errors import ExtensionError
from quorum_base.components import shipped
from quorum_base.registry import Registry
from quorum_base.user_errors import UserError, nearest


def _registry() -> Registry:
    return Registry("world", "worlds", "env", "quorum.worlds", lambda: Component)


COMPONENT = Component(ComponentConfig, lambda config, context: config)


@pytest.mark.parametrize("registry", REGISTRIES, ids=lambda registry: registry.kind)
def test_every_builtin_component_loads(registry: Registry) -> None:
    for name in registry.names():
        assert isinstance(registry.get(name), Component)


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(UserError, match=r"env.name: no world is called 'cubes'\nDid you mean 'cube'\?"):
        _registry().get("cubes")


def test_a_registered_component_is_found_and_its_name_is_taken() -> None:
    registry = _registry()
    registry.register("maze", COMPONENT)
    assert registry.get("maze") is COMPONENT
    for name in ("maze", "cube"):
        with pytest.raises(UserError, match="already registered"):
            registry.register(name, COMPONENT)


@pytest.mark.parametrize("name", ["", "Maze", "../maze", "a-b", "a b", "1a"])
def test_a_name_that_could_not_stand_in_a_folder_or_a_file_is_refused(name: str) -> None:
    with pytest.raises(UserError, match="lowercase letters"):
        _registry().register(name, COMPONENT)


def test_installed_packages_offer_components_by_entry_points(tmp_path, monkeypatch) -> None:
    _package(tmp_path, "one", "maze = mazes_one:component\nbroken = mazes_one:other")
    (tmp_path / "mazes_one.py").write_text(
        "from maeil.component import *\ncomponent = Component(ComponentConfig, print)\nother = 3\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    registry = _registry()
    assert registry.names() == (*shipped("worlds"), "broken", "maze")
    assert "mazes_one" not in sys.modules, "names are listed without importing anything"
    assert isinstance(registry.get("maze"), Component)
    with pytest.raises(UserError, match="it is a int, not a maeil"):
        registry.get("broken")
    (tmp_path / "more").mkdir()
    _package(tmp_path / "more", "two", "maze = mazes_two:component")
    monkeypatch.syspath_prepend(tmp_path / "more")
    with pytest.raises(UserError, match="several packages offer the world 'maze': mazes_one:component, mazes_two"):
        registry.get("maze")


def test_a_component_with_a_name_of_ours_is_not_used_and_a_warning_names_it(tmp_path, monkeypatch, caplog) -> None:
    _package(tmp_path, "copy", "cube = cubes_of_others:component")
    monkeypatch.syspath_prepend(tmp_path)
    caplog.set_level("WARNING", "quorum")
    registry = _registry()
    for _ in range(2):
        registry.get("cube")
    assert "cubes_of_others" not in sys.modules
    warned = "cubes_of_others:component: not used, because Quorum has a world 'cube': give it another name"
    assert [record.getMessage() for record in caplog.records] == [warned]


def _package(folder, name: str, points: str) -> None:
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[quorum.worlds]\n{points}\n")


@pytest.mark.parametrize("module", ["no_such_module", "no_such.module", "corridor.sub", "../x", "", ".x"])
def test_a_plugin_that_does_not_exist_is_a_users_mistake(module: str) -> None:
    with pytest.raises(UserError, match="--plugin"):
        load_plugins([module])


def test_a_broken_plugin_keeps_its_own_error_and_says_where(tmp_path, monkeypatch) -> None:
    (tmp_path / "broken_plugin.py").write_text("\nimport a_module_that_is_missing\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ExtensionError, match=r"^broken_plugin.py:2: ModuleNotFoundError: ") as reported:
        load_plugins(["broken_plugin"])
    assert isinstance(reported.value.__cause__, ModuleNotFoundError)
    assert reported.value.__cause__.name == "a_module_that_is_missing"


def test_the_nearest_is_by_spelling_or_by_the_last_part_of_a_dotted_name() -> None:
    assert nearest("cubee", ["cube", "crafter"]) == "Did you mean 'cube'?"
    assert nearest("blocks", ["n", "env", "env.blocks"]) == "Did you mean 'env.blocks'?"
    assert nearest("zzz", ["n", "env"]) == ""


def test_a_name_in_a_description_comes_before_a_similar_spelling() -> None:
    names = {"crafter": "Crafter itself.", "coop": "The open world (MA-Crafter)."}
    assert nearest("ma_crafter", names, descriptions=names) == "Did you mean 'coop'?"
    assert nearest("macrafte", names, descriptions={}) == "Did you mean 'crafter'?"
    assert nearest("the", names, descriptions=names) == "", "short words are in every description"


@pytest.mark.parametrize(
    ("group", "name", "option"),
    [
        ("env", "ma_crafter", "crafter_coop"),
        ("agents", "triplet_critic", "llamac"),
        ("agents", "TripletCritic", "llamac"),
        ("topology", "broadcast", "chain"),
        ("topology", "broadcast_chain", "chain"),
    ],
)
def test_a_component_is_found_by_the_name_of_its_paper(group: str, name: str, option: str) -> None:
    with pytest.raises(UserError, match=f"^{group}: there is no option {name!r}\nDid you mean '{option}'"):
        Cell.compose([f"{group}={name}"])
