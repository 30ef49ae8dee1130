"""A mistake in the code of a plug-in is one message with the line of that code, whatever kind of plug-in it is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.episode.extenders.conftest import Typed, assert_reported, place, write, wrong

WORDS = (
    "env=pit n=2 max_steps=3 agents=mine topology=round --plugin pit --plugin mine --plugin round --config-dir configs"
)
_THOUGHT = "return Thought(Plan((Rest(),)))"
_THINK = "async def think(self, view):"
_TRANSITION = "Transition((), 0.0, end_of(success=False, truncated=self.t >= self.max_steps))"
_STEP = "def step(self, joint):"
_TURNS = "def turns(self, conversation):"
_BUILD = "def build(config, context):"
_COMPONENT = "Component(MineConfig, build))"

IMPORTS = {
    "a syntax error": ({"class Mine:": "class Mine  # HERE"}, "SyntaxError: expected ':'"),
    "a module that is not there": ({"from pit import Rest": "import torchh  # HERE"}, "No module named 'torchh'"),
    "a name that is not there": ({"Plan, Thought\n": "Plan, Thougt  # HERE\n"}, "cannot import name 'Thougt'"),
    "code that raises": ({_BUILD: f"1 / 0  # HERE\n\n\n{_BUILD}"}, "ZeroDivisionError: division by zero"),
    "no component": ({_COMPONENT: "build)  # HERE"}, "it is a function, not a maeil.component.Component"),
    "a name that is taken": (
        {'ter("mine", Comp': 'ter("naive", Comp', "build))": "build))  # HERE"},
        "is already registered",
    ),
    "the parts of a component swapped": ({_COMPONENT: "Component(build, MineConfig))  # HERE"}, "must be a class"),
    "a field without a type": (
        {"(ComponentConfig):": "(ComponentConfig):  # HERE\n    pace = 1"},
        "non-annotated",
    ),
}
"""What cannot be imported: changes of the mind, and what is reported."""

BEFORE = {
    "a team is built by code that raises": (
        wrong("mine.py", {"return [Mine()": "context.wrld  # HERE\n    return [Mine()"}),
        "in build: AttributeError: 'TeamContext' object has no attribute 'wrld'",
    ),
    "too few minds": (
        wrong("mine.py", {"[Mine() for _ in context.world.agents]": "[Mine()]"}, _BUILD),
        "build() returned 1 mind; it must return one for each of the 2 agents",
    ),
    "a mind in place of a team": (
        wrong("mine.py", {"[Mine() for _ in context.world.agents]": "Mine()"}, _BUILD),
        "it must return a sequence of minds",
    ),
    "a mind without think": (
        wrong("mine.py", {"async def think": "async def thnk"}, "class Mine:"),
        "Mine lacks think, which maeil.mind.Mind requires",
    ),
    "a mind that takes no view": (
        wrong("mine.py", {_THINK: "async def think(self):  # HERE"}),
        "Mine.think() cannot be called with (view)",
    ),
    "values that a library refuses": (
        wrong("mine.py", {"return [Mine()": "MineConfig(nme='x')  # HERE\n    return [Mine()"}),
        "ValidationError of MineConfig: name: Field required; nme: Extra inputs are not permitted",
    ),
    "a world that cannot be made": (
        wrong("pit.py", {"= config.max_steps": "= config.steps  # HERE"}),
        "in Pit.__init__: AttributeError: 'PitConfig' object has no attribute 'steps'",
    ),
    "a world that lacks methods": (
        wrong(
            "pit.py",
            {"def check_plan": "def check", "def progress": "def prog"},
            'worlds.register("pit", Component(PitConfig, lambda config, context: Pit(config)))',
        ),
        "TypeError: Can't instantiate abstract class Pit with",
    ),
    "a world without its base": (
        wrong("pit.py", {"class Pit(World):": "class Pit:  # HERE"}),
        "Pit is not derived from maeil.World",
    ),
    "a world without agents": (
        wrong("pit.py", {"range(config.n)": "range(0)"}, "class Pit(World):"),
        "Pit.agents is a tuple, (); it must be the names of its agents",
    ),
    "a world whose vocabulary is none": (
        wrong("pit.py", {"Vocabulary(Rest)\n": "(Rest,)\n"}, "class Pit(World):"),
        "it must be a maeil.Vocabulary",
    ),
    "a reset that raises": (
        wrong("pit.py", {'return {"depth": 1}': "return self.depth  # HERE"}),
        "in Pit.reset: AttributeError",
    ),
    "a reset without a board": (
        wrong("pit.py", {'return {"depth": 1}': "pass"}, "def reset(self, seed):"),
        "Pit.reset() returned None; it must return a mapping that describes the board",
    ),
    "a board that is no JSON": (
        wrong("pit.py", {'{"depth": 1}': "{1: object()}"}, "def reset(self, seed):"),
        "Pit.reset() returned a value that cannot be written as JSON",
    ),
    "a topology that is none": (
        wrong("round.py", {"return Round()": "Round()"}, _BUILD),
        "build() returned None; it must return a maeil.Topology",
    ),
    "a topology without turns": (
        wrong("round.py", {"def turns": "def turn", "return Round()": "return Round()  # HERE"}),
        "abstract class Round",
    ),
}
"""What is found before an episode begins."""

DURING = {
    "a mind that raises": (
        wrong("mine.py", {_THOUGHT: "return self.plans[0]  # HERE"}),
        "in Mine.think: AttributeError: 'Mine' object has no attribute 'plans'",
    ),
    "a mind that raises later": (
        wrong(
            "mine.py", {_THOUGHT: f"if view.t == 2:\n            raise ValueError('lost')  # HERE\n        {_THOUGHT}"}
        ),
        "ValueError: lost",
    ),
    "a mind that raises inside of a library": (
        wrong("mine.py", {_THOUGHT: "import json; return json.loads('{')  # HERE"}),
        "in Mine.think: JSONDecodeError: Expecting property name",
    ),
    "a mind that plans what there is not": (
        wrong("mine.py", {"(Rest(),)": "(Rest(steps=2),)", ")))\n": ")))  # HERE\n"}),
        "ValidationError of Rest: steps: Extra inputs are not permitted",
    ),
    "a mind that is not async": (
        wrong("mine.py", {_THINK: "def think(self, view):  # HERE"}),
        "Mine.think() is not async",
    ),
    "a mind that answers with a plan": (
        wrong("mine.py", {_THOUGHT: "return Plan((Rest(),))"}, _THINK),
        "it must return a maeil.Thought",
    ),
    "a mind that answers nothing": (
        wrong("mine.py", {_THOUGHT: "Thought(Plan((Rest(),)))"}, _THINK),
        "Mine.think() returned None; it must return a maeil.Thought",
    ),
    "a mind that decides for a list": (
        wrong("mine.py", {"Plan((Rest(),))": "[Rest()]"}, _THINK),
        "the decision of its Thought is a list",
    ),
    "an observation without text": (
        wrong("pit.py", {"def text": "def txt"}, "def observe(self, agent):"),
        "it must return an observation, which has a method text()",
    ),
    "a check of plans that says no": (
        wrong(
            "pit.py",
            {"check_plan(self, agent, plan):": "check_plan(self, agent, plan):  # HERE\n        return False\n"},
        ),
        "Pit.check_plan() returned a bool, False; it must return a tuple of reasons",
    ),
    "an action without a controller": (
        wrong("pit.py", {"return Repeat(0, 1)": "return 0"}, "def start_action(self, agent, action):"),
        "it must return a maeil.Controller",
    ),
    "a primitive that is none": (
        wrong(
            "pit.py",
            {
                "return Repeat(0, 1)": "return Lift(0, 1)",
                "class Pit(World)": (
                    "class Lift(Repeat):\n    def act(self):  # HERE\n        return None\n\n\nclass Pit(World)"
                ),
            },
        ),
        "Lift.act() returned None; it must return the primitive of this step",
    ),
    "constraints that are none": (
        wrong(
            "pit.py",
            {
                "def constraints(self, joint, plans):": "def constraints(self, joint, plans):  # HERE\n"
                "        return None\n"
            },
        ),
        "it must return a tuple of maeil.TaskState, empty for none",
    ),
    "a step that raises": (
        wrong("pit.py", {"self.t += 1": "self.t += None  # HERE"}),
        "in Pit.step: TypeError: unsupported operand",
    ),
    "a step that returns what Gymnasium wants": (
        wrong("pit.py", {_TRANSITION: "{}, 0.0, False, False, {}"}, _STEP),
        "Pit.step() returned a tuple, ({}, 0.0, False, False, {}); it must return a maeil.Transition",
    ),
    "a reward for each agent": (
        wrong("pit.py", {"((), 0.0,": "((), [0.0, 0.0],"}, _STEP),
        "whose reward is a list, [0.0, 0.0]; it must be one number",
    ),
    "outcomes that are no JSON": (
        wrong("pit.py", {"((), 0.0,": "(({'what': object()},), 0.0,"}, _STEP),
        "Pit.step() returned a value that cannot be written as JSON",
    ),
    "an attempt at a task that was not reported": (
        wrong(
            "pit.py",
            {
                "self.max_steps))": "self.max_steps), (Attempt(Task('dig', 'pit'), (0,), False),))",
                "import Component,": "import Attempt, Task, Component,",
            },
            "def constraints(self, joint, plans):",
        ),
        "Pit.constraints() did not report the task",
    ),
    "a progress that is a number": (
        wrong("pit.py", {"return Progress(0, 1, 0.0)": "return 0.5"}, "def progress(self):"),
        "Pit.progress() returned a float, 0.5; it must return a maeil.Progress",
    ),
    "turns that raise": (
        wrong("round.py", {"if not conversation.quiet:": "if not conversation.quite:  # HERE"}),
        "in Round.turns: AttributeError",
    ),
    "turns that are indices": (
        wrong("round.py", {"Turn(agent, frozenset({Act.PLAN}))": "agent"}, _TURNS),
        "it must return a list of maeil.Turn",
    ),
    "turns that are none": (
        wrong("round.py", {"return [Turn(": "[Turn("}, _TURNS),
        "Round.turns() returned None; it must return a list of maeil.Turn",
    ),
    "no turn for anybody": (
        wrong("round.py", {"undecided[:1]": "undecided[:0]"}, _TURNS),
        "topology 'round' gives no turn to digger_0, digger_1",
    ),
    "a turn for an outsider": (
        wrong("round.py", {"Turn(agent,": "Turn(7,"}, _TURNS),
        "Round.turns() gives a turn to participant 7; the participants are 0 to 1",
    ),
    "a turn to write to an outsider": (
        wrong("round.py", {"Turn(agent, frozenset({Act.PLAN}))": "Turn(agent, frozenset({Act.PLAN}), (0, 9))"}, _TURNS),
        "Round.turns() gives a turn that may write to participant 9; the participants are 0 to 1",
    ),
    "a turn to write to a name": (
        wrong("round.py", {"frozenset({Act.PLAN}))": "frozenset({Act.PLAN}), ('digger_1',))"}, _TURNS),
        "Round.turns() gives a turn that may write to participant digger_1; the participants are 0 to 1",
    ),
    "a turn with an outsider as its partner": (
        wrong("round.py", {"frozenset({Act.PLAN}))": "frozenset({Act.PLAN}), partners=(2,))"}, _TURNS),
        "Round.turns() gives a turn with participant 2; the participants are 0 to 1",
    ),
    "a turn for one who waits": (
        wrong("round.py", {"conversation.undecided[:1]": "((0, 1) if not conversation.taken else (0,))"}, _TURNS),
        "digger_0 gets a turn in stage W",
    ),
}
"""What is found while an episode is under way."""


@pytest.mark.parametrize("mistake", IMPORTS)
def test_what_cannot_be_imported(typed: Typed, tmp_path: Path, mistake: str) -> None:
    changes, reported = IMPORTS[mistake]
    files = wrong("mine.py", changes)
    write(tmp_path, files)
    assert_reported(typed(f"run {WORDS}"), files, (reported,), 2)
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize("verb", ["show", "list agents", "check", "sweep", "sweep --dry-run"])
def test_a_plugin_that_cannot_be_imported_ends_every_command(typed: Typed, tmp_path: Path, verb: str) -> None:
    files = wrong("mine.py", {"class Mine:": "class Mine  # HERE"})
    write(tmp_path, files)
    options = WORDS[WORDS.index("--plugin") :]
    assert_reported(typed(f"{verb} {options if verb.startswith('list') else WORDS}"), files, ("SyntaxError",), 2)
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize("mistake", BEFORE)
def test_what_is_wrong_before_an_episode_leaves_nothing(typed: Typed, tmp_path: Path, mistake: str) -> None:
    files, reported = BEFORE[mistake]
    write(tmp_path, files)
    assert_reported(typed(f"run {WORDS}"), files, (reported,), 2)
    assert not (tmp_path / "runs").exists()


def test_what_is_wrong_before_an_episode_ends_a_sweep_before_any_cell(typed: Typed, tmp_path: Path) -> None:
    files, reported = BEFORE["a team is built by code that raises"]
    write(tmp_path, files)
    assert_reported(typed(f"sweep {WORDS} seed=0,1"), files, (reported,), 2)
    assert not (tmp_path / "runs").exists()


def test_what_is_wrong_before_an_episode_is_a_finding_of_a_check(typed: Typed, tmp_path: Path) -> None:
    files, reported = BEFORE["a reset without a board"]
    write(tmp_path, files)
    done = typed(f"check {WORDS} --json")
    finding = next(finding for finding in json.loads(done.out) if finding["subject"] == "configuration")
    assert (done.code, finding["fine"]) == (1, False)
    assert finding["detail"].startswith(f"{place(files)}: {reported}")


@pytest.mark.parametrize("mistake", DURING)
def test_what_goes_wrong_in_an_episode_ends_it_and_keeps_its_traceback(
    typed: Typed, tmp_path: Path, mistake: str
) -> None:
    files, reported = DURING[mistake]
    write(tmp_path, files)
    done = typed(f"run {WORDS}")
    assert_reported(done, files, (reported, "The episode has failed"), 1)
    (folder,) = (tmp_path / "runs").iterdir()
    assert ".partial" not in folder.name
    meta = json.loads((folder / "meta.json").read_text())
    assert meta["outcome"] == "error"
    assert meta["error"]["place"].startswith(place(files))
    assert str(folder.relative_to(tmp_path) / "traceback.txt") in done.err
    assert "Traceback" in (folder / "traceback.txt").read_text()
