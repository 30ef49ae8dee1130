"""Every configuration that ships: described, commented, and valid."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from quorum.configuration.catalogue import BUILTIN_GROUPS, CONFIGS, EXPERIMENT, SWEEP_GROUPS, Option, knobs, options
from quorum.configuration.cell import Cell
from quorum.configuration.checked_values import component_values
from quorum.configuration.compose import Composer
from quorum.configuration.overrides import parse
from quorum.configuration.registry import engines, trackers
from quorum.configuration.schema import Knobs
from quorum.sweeps.plan import plan

OPTIONS = options()
PLAIN = {"name", "unit"}  # keys that the file's description explains
MINDS = {
    "topology=dytopo": ["agents=naive"],  # minds that describe themselves
    "topology=random": ["agents=naive"],
    "prompts=paper": ["agents=heuristic"],  # for teams with roles in transport only
}
OPEN = {
    "id": "zoo_games",
    "model": "some-model",
    "run": "some-run",
    "base_url": "https://some.openai.azure.com/openai/v1",
    "control.donors": str(Path(__file__).with_name("donors.json")),
}  # keys that the user must give


def _of(*groups: str) -> pytest.MarkDecorator:
    chosen = [option for option in OPTIONS if option.group in groups]
    return pytest.mark.parametrize("option", chosen, ids=lambda option: f"{option.group}={option.name}")


def _is_explained(option: Option) -> bool:
    explained = (knob.description or knob.key.rpartition(".")[2] in PLAIN for knob in option.knobs)
    return bool(option.description) and all(explained)


@_of(*BUILTIN_GROUPS)
def test_an_option_of_a_cell_is_described_commented_and_valid(option: Option) -> None:
    assert _is_explained(option)
    given = [f"{option.group}.{knob.key}={OPEN[knob.key]}" for knob in option.knobs if knob.value == "???"]
    needed = MINDS.get(f"{option.group}={option.name}", [])
    given += needed
    cell = Cell.compose([f"{option.group}={option.name}", *given])
    added = [option.group] if option.group == "extension" else []
    parts = {"env", "agents", "topology", "llm", *added}
    assert set(cell.plain) == {*Knobs.model_fields, *parts}
    values = {f"{option.group}.{key}": value for key, value in OPEN.items()}
    typed = [f"{knob.key}={values[knob.key] if knob.value == '???' else knob.value}" for knob in option.typed]
    again = Cell.compose([f"{option.group}={option.name}", *typed, *(given if needed else [])])
    assert again.hash == cell.hash


@_of("engine", "track")
def test_an_engine_or_a_tracker_is_described_commented_and_valid(option: Option) -> None:
    assert _is_explained(option)
    values = Composer().of_group(option.group, parse([f"{option.group}={option.name}"]))
    registry = engines if option.group == "engine" else trackers
    assert component_values(registry, {option.group: values}).name == option.name


@_of(EXPERIMENT)
def test_an_experiment_is_described_and_plans(option: Option) -> None:
    """One board of it: further boards differ in nothing but the seed."""
    assert option.description
    planned = plan([f"{EXPERIMENT}={option.name}", "seed=0"])
    assert (planned.experiment, planned.repeated) == (option.name, 0)
    assert {cell.arm for cell in planned.cells} == set(planned.arms or [None])


def test_experiments_that_repeat_a_page_have_its_settings_and_its_figures() -> None:
    emcoop, baselines = (
        yaml.safe_load((CONFIGS / EXPERIMENT / f"{name}.yaml").read_text(encoding="utf-8"))
        for name in ("emcoop_cube", "cube_baselines")
    )
    assert {"env=cube_coop2", "env.vocabulary=emcoop"} <= set(emcoop["fixed"])
    assert "env.level=easy,medium,hard" in emcoop["grid"]
    assert ("n=1,2,4,8" in baselines["grid"], "max_steps=200" in baselines["fixed"]) == (True, True)
    assert baselines["arms"]["heuristic"] == ["agents=heuristic", "agents.teams=one"]
    assert "prompts=cube_code" in baselines["arms"]["naive"]
    published = {(arm, n): steps for arm, model, n, _, steps, _ in baselines["published"]["rows"] if model is None}
    assert published == {("heuristic", 1): 29, ("heuristic", 2): 100, ("heuristic", 4): 105.5, ("heuristic", 8): 165}


def test_the_groups_are_those_of_the_defaults_list_and_have_options() -> None:
    text = (CONFIGS / "config.yaml").read_text(encoding="utf-8")
    chosen = [line.split(":")[0].removeprefix("  - ") for line in text.splitlines() if line.startswith("  - ")]
    assert chosen == ["_self_", *BUILTIN_GROUPS]
    assert {option.group for option in OPTIONS} == {*BUILTIN_GROUPS, *SWEEP_GROUPS}


def test_every_top_level_knob_is_commented_and_in_the_schema() -> None:
    found = {knob.key: knob.description for knob in knobs()}
    assert set(found) == {
        "n", "seed", "episode", "draw", "max_steps", "max_repairs",
        "memory.messages", "memory.exchanges", "memory.keep", "memory.store",
        "limits.thought_seconds", "limits.episode_seconds", "limits.step_seconds",
        "budget.usd", "budget.tokens", "budget.calls",
    }  # fmt: skip
    assert all(found.values())


def test_the_catalogue_reads_the_values_as_they_are_written(tmp_path: Path) -> None:
    (tmp_path / "llm").mkdir()
    (tmp_path / "llm" / "one.yaml").write_text(
        "# @package _global_\n# The first.\na: null  # one\nb:\n  c: '#1'  # two\n  d:\n    e: [1, 2]\nf: x\n"
    )
    (option,) = [option for option in options(tmp_path) if option.source]
    assert (option.group, option.name, option.description) == ("llm", "one", "The first.")
    assert [(knob.key, knob.value, knob.description) for knob in option.knobs] == [
        ("a", "null", "one"),
        ("b.c", "'#1'", "two"),
        ("b.d.e", "[1, 2]", ""),
        ("f", "x", ""),
    ]


def test_an_option_that_includes_others_shows_their_keys_behind_its_own(tmp_path: Path) -> None:
    (tmp_path / "llm").mkdir()
    (tmp_path / "llm" / "mine.yaml").write_text(
        "# Mine.\ndefaults:\n  - base@_here_\n  - shared/calls@_here_\n\nname: mine\n"
    )
    (tmp_path / "llm" / "base.yaml").write_text("# Base.\nname: base\nspeed: 3  # how fast\nmax_tokens: 9  # few\n")
    (option,) = [option for option in options(tmp_path) if option.name == "mine"]
    assert [(knob.key, knob.value) for knob in option.knobs[:3]] == [
        ("name", "mine"),
        ("speed", "3"),
        ("max_tokens", "9"),
    ]
    assert "max_concurrency" in [knob.key for knob in option.knobs]


def test_single_rules_of_the_open_world_can_be_changed_from_the_command_line() -> None:
    plain = Cell.compose(["env=crafter_coop", "env.switches={mobs: false}", "env.thresholds={iron: 2}"]).plain
    assert (plain["env"]["switches"], plain["env"]["thresholds"]) == ({"mobs": False}, {"iron": 2})
