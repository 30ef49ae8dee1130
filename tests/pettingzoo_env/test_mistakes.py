"""Mistakes in descriptions and environments: each has one message that names the thing, its place and the way out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from quorum.configuration.cell import Cell
from quorum.episode.building import no_models
from quorum.episode.parts import build
from quorum.installation.extension_errors import as_extension_error
from quorum_base.user_errors import UserError

DONE = "done_when: {part: own, at_most: 0}"
DESCRIPTIONS = {
    "a key that does not exist": ("taks: {}", "taks: no such key: see docs/pettingzoo.md"),
    "too few names": ("agents: {'*': {actions: [a, b]}}", "rescuer_0: actions: 2 different names for 3 choices"),
    "two of a name": ("agents: {'*': {actions: [a, b, a]}}", "rescuer_0: actions: 2 different names for 3 choices"),
    "no such choice": ("agents: {'*': {actions: [a, b, c], wait: d}}", "no such choice: d; the choices are a, b, c"),
    "no such choice in a sequence": (
        "agents: {'*': {actions: [a, b, c], sequences: {twice: [b, d]}}}",
        "sequences.twice: no such choice: d; the choices are a, b, c",
    ),
    "a sequence with the name of a choice": (
        "agents: {'*': {actions: [a, b, c], sequences: {b: [a, c]}}}",
        "env.description.agents: rescuer_0: sequences.b: a choice already has this name: choose another",
    ),
    "an empty sequence": ("agents: {'*': {sequences: {none: []}}}", "agents.*.sequences.none: List should have"),
    "no such choice to wait": ("agents: {'*': {wait: 7}}", "wait: no such choice: 7; the choices are 0, 1, 2"),
    "nobody of this name": (
        "agents: {robber: {}}",
        "env.description.agents: robber matches no agent of rescuer_0",
    ),
    "parts of another length": (
        "agents: {'*': {observation: {own: 1, rest: 2}}}",
        "agents: the observation of rescuer_0: it has 4 numbers, but its described parts have 3 in total",
    ),
    "a task of nothing": (f"tasks: {{reach: {{targets: [], {DONE}}}}}", "tasks.reach.targets: List should have"),
    "a task without an end": ("tasks: {reach: {targets: [x]}}", "tasks.reach.done_when: the key is missing"),
    "a condition of nothing": (
        "tasks: {reach: {targets: [x], done_when: {part: own}}}",
        "give equals, at_most or at_least",
    ),
    "a part that nobody observes": (
        f"tasks: {{reach: {{targets: [x], {DONE}}}}}",
        "env.description.tasks.reach.done_when: no agent observes own; the parts are observation",
    ),
    "a number that a part lacks": (
        "tasks: {reach: {targets: [x], done_when: {part: observation, numbers: [4], equals: 0}}}",
        "tasks.reach.done_when: observation has no number 4; its numbers are 0, 1, 2, 3",
    ),
    "two parts of other lengths": (
        "agents: {'*': {observation: {own: 1, rest: 3}}}\n"
        "tasks: {reach: {targets: [x], done_when: {part: own, minus: rest, at_most: 0}}}",
        "tasks.reach.done_when: own and rest differ in length: choose with `numbers`",
    ),
    "a weight that nobody observes": (
        f"tasks: {{reach: {{targets: [x], {DONE.replace('own', 'observation')}, weight: {{part: level}}}}}}",
        "env.description.tasks.reach.weight: no agent observes level; the parts are observation",
    ),
    "code": (
        "tasks: {reach: {targets: [x], done_when: 'observation[0] == 1'}}",
        "tasks.reach.done_when: this must be a map",
    ),
    "a score of nobody": ("score: best", "env.description.score: best is not one of mean, sum, rescuer_0, rescuer_1"),
    "no YAML": ("agents: [", "the file cannot be read: while parsing"),
    "no description": ("- agents", "the file: this must be a map"),
    "an object of Python": ("rules: !!python/object/apply:os.getcwd []", "could not determine a constructor"),
}  # fmt: skip
ENVIRONMENTS = {
    "no module": ("env.id=nowhere", "env.id: no module nowhere in the current folder or among the installed packages"),
    "no function": ("env.id=zoo_games:Rescu", "env.id: zoo_games has no function Rescu. Did you mean 'Rescue'?"),
    "not of PettingZoo": ("env.id=zoo_games:gym_like", "makes a str, but must make an AECEnv or a ParallelEnv"),
    "an argument too many": (
        "env.id=zoo_games env.kwargs.rooms=2",
        "zoo_games cannot be made with these arguments: TypeError",
    ),
    "a mode of rendering": ("env.id=zoo_games env.kwargs.render_mode=human", "env.kwargs.render_mode: leave it out"),
    "it cannot be made": ("env.id=zoo_games:Broken env.kwargs.how=init", "RuntimeError: no licence"),
    "another number of agents": ("env.id=zoo_games n=5", "env.n: zoo_games has 2 agents, not 5: set n=2"),
    "nobody to play": ("env.id=zoo_games:Broken env.kwargs.how='no agents'", "has no possible_agents"),
    "a space of texts": (
        "env.id=zoo_games:Broken env.kwargs.how=text",
        "env.id: rescuer_0 has the action space Text; plans can only use Discrete, Box",
    ),
    "a drawing of what nobody observes": (
        "env.id=zoo_games:Plain env.description={drawing: {columns: 6, rows: 1, agents: cell}}",
        "env.description.drawing: cell is not a part with two numbers; such parts are observation",
    ),
    "an agent that is not named": (
        "env.id=zoo_games:Broken env.kwargs.how=visitor",
        "env.id: zoo_games:Broken: the agent visitor is not among its possible_agents: rescuer_0, rescuer_1",
    ),
    "a reset that fails": ("env.id=zoo_games:Broken env.kwargs.how=reset", "in Broken.reset: KeyError: 'map'"),
}  # fmt: skip


def message(*words: str) -> str:
    """Return the message with which a run on these words is refused."""
    try:
        cell = Cell.compose(["env=pettingzoo", "agents=idle", *([] if "n=5" in words else ["n=2"]), *words])
        build(cell, no_models)
    except UserError as error:
        return str(error)
    except Exception as error:
        return str(as_extension_error(error))
    raise AssertionError("nothing is refused")


@pytest.mark.parametrize("mistake", DESCRIPTIONS)
def test_a_mistake_in_a_description_is_named(mistake: str, tmp_path: Path) -> None:
    text, expected = DESCRIPTIONS[mistake]
    (tmp_path / "line.yaml").write_text(text, encoding="utf-8")
    found = message("env.id=zoo_games", f"env.description={tmp_path / 'line.yaml'}")
    assert expected in found
    assert len(found.splitlines()) <= 2


@pytest.mark.parametrize("mistake", ENVIRONMENTS)
def test_a_mistake_in_an_environment_is_named(mistake: str) -> None:
    words, expected = ENVIRONMENTS[mistake]
    found = message(*re.split(" (?=env|n=)", words))
    assert expected in found
    assert len(found.splitlines()) <= 2


def test_a_description_that_is_not_there_is_named(tmp_path: Path) -> None:
    found = message("env.id=zoo_games", f"env.description={tmp_path / 'none.yaml'}")
    assert "env.description" in found
    assert "No such file" in found


def test_a_mistake_in_a_description_on_the_command_line_has_its_key() -> None:
    found = message("env.id=zoo_games", "env.description={tasks: {reach: {targets: [x]}}}")
    assert found == "env.description.tasks.reach.done_when: the key is missing"
