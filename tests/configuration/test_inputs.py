"""A cell's name depends on more than its configuration: on templates, plug-ins and the files that it names."""

from __future__ import annotations

import json
import shutil
import sys
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import pytest

from quorum.agents.prompting import templates
from quorum.configuration import package_files, plugins
from quorum.configuration.cell import Cell
from quorum.configuration.inputs import InputsChanged
from quorum.configuration.plugins import load_plugins
from quorum.episode.planned_cell import PlannedCell
from quorum.episode.runner import run_cell
from quorum.installation.packages import owners
from quorum_base.user_errors import UserError
from tests.composing import compose
from tests.conftest import EXAMPLES

LEADER = ("topology=centralized", "topology.leader=coordinator", "topology.rounds=3")
TEAMS = {
    "naive": ("agents=naive",),
    "tom": ("agents=tom",),
    "llamac": ("agents=llamac", *LEADER),
    "cmas": ("agents=cmas", *LEADER),
    "hmas1": ("agents=hmas1", "topology=dialogue", "topology.opens=coordinator"),
    "hmas2": ("agents=hmas2", *LEADER),
    "dmas": ("agents=dmas", "topology=dialogue"),
    "debaters": ("agents=debaters", *LEADER),
    "heuristic": ("agents=heuristic",),
}
CRAFTER = ("env=crafter_coop", "agents=naive")


@pytest.fixture
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a copy of the shipped templates that stands in their place, as in an editable checkout."""
    quorum, copy = templates.SHIPPED.parent, tmp_path / "shipped"
    for folder in (templates.SHIPPED, *quorum.glob("*/prompts")):
        shutil.copytree(folder, copy / folder.relative_to(quorum))
    monkeypatch.setattr(templates, "SHIPPED", copy / "prompts")
    return copy / "prompts"


def edit(file: Path) -> None:
    file.write_text(file.read_text(encoding="utf-8") + "Be brief.\n", encoding="utf-8")


@cache
def raw(words: tuple[str, ...]) -> dict[str, Any]:
    return compose(words)


def names() -> dict[str, str]:
    return {team: Cell.of(raw(words)).name for team, words in {**TEAMS, "crafter": CRAFTER}.items()}


@pytest.mark.usefixtures("shipped")
@pytest.mark.parametrize(
    ("template", "renamed"),
    [
        ("cube/rules.jinja", {"naive", "tom", "llamac", "cmas", "hmas1", "hmas2", "dmas", "debaters"}),
        ("crafter/rules.jinja", {"crafter"}),
        ("crafter/terse/rules.jinja", set()),
        ("common/system.jinja", {"naive", "tom", "crafter", "llamac", "cmas", "hmas1", "hmas2", "dmas", "debaters"}),
        ("common/wanted.jinja", {"naive", "tom", "crafter"}),
        ("common/expected.jinja", {"tom"}),
        ("common/predict.jinja", set()),
        ("tom/observer.jinja", {"tom"}),
        ("tom/known.jinja", {"tom"}),
        ("roles/answer.jinja", {"llamac", "cmas", "hmas1", "hmas2", "dmas", "debaters"}),
        ("llamac/explorer.jinja", {"llamac"}),
        ("baselines/turn.jinja", {"cmas", "hmas1", "hmas2", "dmas", "debaters"}),
        ("baselines/reviewer.jinja", {"hmas2"}),
        ("baselines/talker.jinja", {"hmas1", "dmas"}),
        ("baselines/debater.jinja", {"debaters"}),
    ],
)
def test_an_edited_template_renames_the_cells_that_can_show_it_and_no_others(template: str, renamed: set[str]) -> None:
    before = names()
    folder, _, file = template.partition("/")
    edit(templates.shipped_templates(folder) / file)
    assert {team for team, name in names().items() if name != before[team]} == renamed


def test_a_critic_that_is_not_there_has_no_template() -> None:
    inputs = Cell.compose([*TEAMS["llamac"], "agents.critics=explorer"]).inputs
    assert "prompts/llamac/explorer.jinja" in inputs
    assert "prompts/llamac/exploiter.jinja" not in inputs


def test_a_template_of_ones_own_is_an_input_wherever_its_folder_is(tmp_path: Path) -> None:
    (tmp_path / "rules.jinja").write_text("Push.")
    first = Cell.compose(["agents=naive", f"prompts.folder={tmp_path}"])
    assert "prompts.folder/rules.jinja" in first.inputs
    assert "prompts/cube/rules.jinja" not in first.inputs
    assert not any(str(tmp_path) in name for name in first.inputs)
    (tmp_path / "rules.jinja").write_text("Pull.")  # as long, and in the same instant
    assert Cell.compose(["agents=naive", f"prompts.folder={tmp_path}"]).name != first.name


@pytest.mark.parametrize(
    "include", ['{% include "advice.jinja" %}', '{% include "ad" ~ "vice.jinja" %}', "{% include x %}"]
)
def test_what_a_template_includes_is_an_input_even_where_only_a_prompt_can_tell(include: str, tmp_path: Path) -> None:
    (tmp_path / "rules.jinja").write_text(include)
    (tmp_path / "advice.jinja").write_text("Push.")
    words = ["agents=naive", f"prompts.folder={tmp_path}"]
    before = Cell.compose(words).name
    edit(tmp_path / "advice.jinja")
    assert Cell.compose(words).name != before


def test_a_planned_cell_keeps_the_inputs_that_it_was_planned_with(shipped: Path) -> None:
    cell = Cell.compose(["agents=naive"])
    planned = PlannedCell.of(cell)
    edit(shipped / "cube/rules.jinja")
    assert planned.cell().hash == planned.hash
    assert Cell(cell.configuration, cell.inputs).name == cell.name != Cell.of(cell.plain).name


def test_a_template_that_is_edited_before_its_cell_runs_stops_it_and_nothing_is_left(
    shipped: Path, tmp_path: Path
) -> None:
    cell = Cell.compose(["agents=naive", "n=2", "max_steps=2"])
    edit(shipped / "cube/rules.jinja")
    with pytest.raises(
        InputsChanged, match=r"changed since this command began: prompts/cube/rules.jinja\nRun the command again"
    ):
        run_cell(cell, tmp_path / "runs")
    assert not (tmp_path / "runs").exists()


def test_a_template_that_is_edited_while_its_episode_is_played_changes_nothing_in_it(shipped: Path) -> None:
    found = templates.Templates("cube", shipped / "cube", {"rules": "rules.jinja", "system": "system.jinja"}, own=None)
    system = found.find("system")
    values = {"prompts": {"rules": "rules.jinja"}, "world": "cube", "name": "agent_0", "embodied": True, "agents": 2}
    values |= {"names": ["agent_0"], "actions": [], "calls": [], "action_names": [], "max_actions": 3, "thoughts": 0}
    before = system.render(values)
    edit(shipped / "cube/rules.jinja")
    assert system.render(values) == before


def test_the_answers_that_a_replay_gives_are_inputs(tmp_path: Path) -> None:
    words = ["agents=naive", "llm=replay", f"llm.run={tmp_path}"]
    assert "llm.run/calls.jsonl" not in Cell.compose(words).inputs
    (tmp_path / "calls.jsonl").write_text("{}\n")
    before = Cell.compose(words)
    (tmp_path / "calls.jsonl").write_text("[]\n")
    assert Cell.compose(words).inputs["llm.run/calls.jsonl"] != before.inputs["llm.run/calls.jsonl"]
    assert Cell.compose(words).name != before.name


class TestPackages:
    """The code of third parties."""

    def test_the_packages_of_the_components_in_use_are_inputs_and_others_are_not(self) -> None:
        load_plugins(["corridor", "announcer", "smallest"])
        configs = EXAMPLES / "configs"
        inputs = {
            words: set(Cell.compose(words, configs).inputs)
            for words in (
                ("env=corridor",), ("agents=announcer",), ("llm=smallest", "agents=idle"), ("llm=smallest",),
            )
        }  # fmt: skip
        assert inputs["env=corridor",] == {"package corridor"}
        assert inputs["agents=announcer",] == {"package announcer"}
        assert inputs["llm=smallest", "agents=idle"] == set()
        assert "package smallest" in inputs["llm=smallest",]

    @pytest.mark.parametrize(
        ("changed", "counts"),
        [
            ("mine/rules.py", True),
            ("mine/prompts/rules.jinja", True),
            ("nearby.py", True),
            ("near/deep.py", True),
            ("unrelated.py", False),
            ("mine/__pycache__/rules.pyc", False),
            ("mine/.hidden", False),
            ("mine/runs/sweep/sweep.json", False),
            ("mine/runs/sweep/cell/trace.jsonl", False),
        ],
    )
    def test_a_package_is_its_files_and_the_modules_beside_it_that_it_imports(
        self, changed: str, counts: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in (
            "mine/__init__.py", "mine/prompts/rules.jinja", "nearby.py", "near/__init__.py", "near/deep.py",
            "unrelated.py", "mine/__pycache__/rules.pyc", "mine/.hidden", "mine/runs/sweep/sweep.json",
            "mine/runs/sweep/cell/trace.jsonl",
        ):  # fmt: skip
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text("")
        (tmp_path / "mine" / "rules.py").write_text("import json\nfrom nearby import nothing\n")
        (tmp_path / "nearby.py").write_text("import near.deep\nnothing = None\n")
        monkeypatch.syspath_prepend(tmp_path)
        import mine  # noqa: F401

        before = package_files.describe_package.__wrapped__("mine")
        edit(tmp_path / changed)
        after = package_files.describe_package.__wrapped__("mine")
        for name in ("mine", "nearby", "near", "near.deep"):
            sys.modules.pop(name, None)
        assert (after != before) is counts

    def test_a_process_names_the_code_that_it_has_imported(self) -> None:
        load_plugins(["corridor"])
        assert package_files.describe_package("corridor") is package_files.describe_package("corridor")

    def test_a_package_is_of_the_distributions_that_python_says(self) -> None:
        expected = {package: sorted(set(names)) for package, names in packages_distributions().items()}
        found = owners(*expected, "corridor")
        assert found.pop("corridor") == []
        assert {package: sorted({owner.name for owner in holders}) for package, holders in found.items()} == expected

    def test_an_installed_package_has_its_version_before_its_digest(self) -> None:
        assert package_files.describe_package("jinja2")["package jinja2"].partition(" ")[0].count(".") == 2

    def test_the_versions_of_what_a_plugin_imports_name_the_cell_and_stand_in_its_meta(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "uses_solver.py").write_text("import json, numpy, maeil\nimport helps\n")
        (tmp_path / "helps.py").write_text("def solve():\n    from solver.core import answer\n")
        (tmp_path / "site" / "solver").mkdir(parents=True)
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path / "site")])
        monkeypatch.setattr(plugins, "_of_unknown_effect", [])
        load_plugins(["uses_solver"])
        cells = []
        for version in ("1.0", "2.0"):
            info = tmp_path / "site" / f"fast_solver-{version}.dist-info"
            info.mkdir()
            (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: fast-solver\nVersion: {version}\n")
            (info / "RECORD").write_text("solver/__init__.py,,\nsolver/core.py,,\n")
            package_files.describe_package.cache_clear()
            cells.append(Cell.compose(["n=1", "max_steps=1"]))
            meta = json.loads((run_cell(cells[-1], tmp_path / "runs").folder / "meta.json").read_text())
            assert meta["versions"]["fast-solver"] == meta["inputs"]["library fast-solver"] == version
            assert set(meta["inputs"]) == {"package uses_solver", "library fast-solver"}  # no base dependency
            shutil.rmtree(info)
        package_files.describe_package.cache_clear()
        assert cells[0].name != cells[1].name

    def test_a_plugin_that_registers_nothing_known_is_an_input_of_every_cell(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "patches_something.py").write_text("changed = True\n")
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "path", list(sys.path))
        monkeypatch.setattr(plugins, "_of_unknown_effect", [])
        load_plugins(["patches_something"])
        load_plugins(["patches_something"])
        assert set(Cell.compose([]).inputs) == {"package patches_something"}


@pytest.mark.parametrize("words", [["prompts.rules=gone.jinja"], ["prompts.folder=no_such_folder"]])
def test_templates_that_are_not_there_are_a_mistake_of_the_user(words: list[str]) -> None:
    with pytest.raises(UserError, match=r"^agents: prompts(.folder)?: .*there is no"):
        Cell.compose(["agents=naive", *words])
