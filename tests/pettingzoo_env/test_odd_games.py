"""Environments as others write them: each plays with the books of PettingZoo's own loop, or is one message.

The rows are those of tests/plugins/odd_games.py. What plays is run as a cell: its books are those on disk.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import odd_games
import pytest

from maeil import Plan
from maeil.errors import ContractError
from maeil.trace.events import StepTaken
from maeil.world import closing_world
from pettingzoo_env.world import PettingZooConfig, build
from quorum.configuration.cell import Cell
from quorum.display.consoles import Console
from quorum.episode.runner import run_cell
from quorum.installation.extension_errors import as_extension_error
from quorum.runs.recorded_episode import open_episode
from quorum.runs.run_folder import RunFolder
from quorum.view.replay.command import run_replay
from quorum_base.registry import NAMED_MODULES
from quorum_base.user_errors import UserError
from tests.conftest import Quorum


class Played(NamedTuple):
    """Books of an episode.

    Attributes:
        returns: of each agent that may play, by index.
        steps: how many.
        outcome: how it ended.
    """

    returns: Sequence[float]
    steps: int
    outcome: str


PARALLEL = (
    "", "reset gives observations alone", "reset gives None as infos", "reset gives a list", "step gives a list",
    "infos None", "an info None", "infos of nobody", "infos of the team", "an array of one reward",
    "a list of one reward", "a reward of NumPy", "rewards of some", "arrays of one termination",
    "terminations as numbers", "terminations of all", "an observation None", "truncated", "ended and truncated",
    "agents stay in the list", "relay", "relay of all", "numbers as names", "names in a tuple", "no metadata",
    "nested observations", "observation of the same name", "observation of text", "close fails", "mask in the info",
    "mask of truth values", "mask as a list", "mask of MultiDiscrete", "mask of MultiDiscrete with a start",
    "mask of MultiBinary", "mask of Dict", "mask of Tuple",
)  # fmt: skip
TURNS = {
    "": "last",
    "truncated": "last",
    "truncated, empties agents": "rewards",
    "terminated, empties agents": "rewards",
    "written as cumulative": "last",
    "never taken back": "last",
    "never accumulated": "rewards",
    "reward at the start": "last",
    "arrays of one reward": "last",
    "infos None, empties agents": "rewards",
    "mask in the observation": "last",
    "relay": "rewards",
}
"""How PettingZoo's own loop keeps the books of each: by what `last()` shows, or by `rewards` after each step."""
DICTS = "it must be a dict by agent"
WRONG = {
    "reset gives three": "reset() returned 3 values; it must return 2 dicts by agent: observations, infos",
    "reset gives None": "reset() returned None; it must return 2 dicts by agent: observations, infos",
    "reset gives one array": "reset() returned a ndarray, array([0., 0.]); it must return 2 dicts by agent",
    "reset gives lists by order": DICTS,
    "reset fails": "in Odd.reset: KeyError: 'map'",
    "nobody begins": "its list of agents is empty after reset()",
    "agents are None": "agents is None; it must be the list of the agents that play",
    "draws without a seed": (
        "draws that do not follow from the seed: two resets with seed 0 give a a different observation"
    ),
    "step gives dones": "step() returned 4 values; it must return 5 dicts by agent: observations, rewards, term",
    "step gives observations alone": "step() returned a dict",
    "step gives None": "step() returned None; it must return 5 dicts by agent",
    "step fails": "in Odd.step: ZeroDivisionError: division by zero",
    "infos in a list": f"as infos; {DICTS}",
    "an info of text": "step() returned a str, 'fine' for a in its infos; it must be a dict",
    "rewards None": f"step() gives None as rewards; {DICTS}",
    "one reward for all": f"step() gives a float, 1.0 as rewards; {DICTS}",
    "a reward None": "step() returned None for a in its rewards; it must be one finite number",
    "a reward of text": "in its rewards; it must be one finite number",
    "a reward that is no number": "step() returned a float, nan for a in its rewards; it must be one finite number",
    "a vector of rewards": "in its rewards; it must be one finite number",
    "rewards of an outsider": "the agent team is not among its possible_agents: a, b",
    "terminations None": f"step() gives None as terminations; {DICTS}",
    "a termination None": "step() returned None for a in its terminations; it must be true or false",
    "one truncation for all": f"step() gives a bool, False as truncations; {DICTS}",
    "observations None": f"step() gives None as observations; {DICTS}",
    "a ragged observation": "in its observations; it must be an array, or a dict or a tuple of arrays",
    "observation of an outsider": "the agent visitor is not among its possible_agents: a, b",
    "mask of Box": "the action_mask of a: an array of shape (2,) is for Box",
    "mask of too few": "the action_mask of a: an array of shape (2,) is not a mask of 3 choices",
    "mask of what is no choice": "it must hold 3 zeros and ones",
    "mask of MultiDiscrete in one row": "an array of shape (5,) is not a mask of MultiDiscrete([3 2]): it must be",
    "mask of Dict with an outsider": "it must have a mask for each part",
    "NoSeed": (
        "NoSeed.reset() got an unexpected keyword argument 'seed'; the signature must be reset(seed=None, options=None)"
    ),
}
WRONG_TURNS = {
    "dones of old": "it has no terminations after reset()",
    "nobody is selected": "agent_selection is None, which is not one of its agents: a, b",
    "rewards in a list": "in Turns.step: TypeError: list indices",
    "observe fails": "in Turns.observe: IndexError: no such row",
    "a reward None": "step() returned None for a in its rewards; it must be one finite number",
    "a vector of rewards": "it must be one finite number",
}
PICTURE = {
    "picture as PettingZoo has it": odd_games.PICTURE,
    "picture in grey": odd_games.PICTURE[:, :, [0, 0, 0]],
    "picture in grey with a channel": odd_games.PICTURE[:, :, [0, 0, 0]],
    "picture in floats": odd_games.PICTURE,
    "picture in truth values": (odd_games.PICTURE > 30) * 255,
    "picture in large numbers": odd_games.PICTURE,
    "picture with channels first": odd_games.PICTURE,
    "picture with alpha": odd_games.PICTURE,
    "picture as lists": odd_games.PICTURE,
}
NO_PICTURE = {
    "picture of None": "render() returned None; it must return a picture",
    "picture of text": "render() returned a str, '+--+'; it must return a picture",
    "picture of nothing": "an array of shape (0, 0, 3)",
    "picture of objects": "an array of shape (1,)",
    "picture of five channels": "an array of shape (7, 6, 5)",
}


@pytest.fixture(autouse=True)
def _one_at_a_time_and_closed() -> Iterator[None]:
    """Make sure of it: a second environment finds its port in use. What is replayed is named by the user."""
    odd_games.OPEN.clear()
    NAMED_MODULES.add("odd_games")
    yield
    NAMED_MODULES.discard("odd_games")
    assert not odd_games.OPEN


def run(function: str, how: str, out: Path, *words: str) -> tuple[Path, Played, Mapping[str, Any]]:
    """Run a cell; return its folder, the books on disk, and its metrics."""
    n = 3 if how.startswith("relay") else 2
    env = ["env=pettingzoo", f"env.id=odd_games:{function}", f"env.kwargs.how='{how}'" if how else "", f"n={n}"]
    cell = Cell.compose([word for word in (*env, "agents=random", "max_steps=30", *words) if word])
    folder = run_cell(cell, out).folder
    files = RunFolder(folder)
    steps = [*files.trace().of(StepTaken)]
    each = [step.rewards or [step.reward] * n for step in steps]
    books = Played([sum(own) for own in zip(*each, strict=True)], len(steps), str(files.meta().outcome))
    return folder, books, files.metrics()


def refused(function: str, how: str, out: Path) -> str:
    """Return the message with which a run ends."""
    try:
        run(function, how, out)
    except UserError as error:
        return str(error)
    except Exception as error:
        raise AssertionError(f"not one message: {as_extension_error(error)}") from error
    raise AssertionError("nothing is refused")


def number(value: Any) -> float:
    return float(np.asarray(value).item())


def own_parallel(how: str, joints: Sequence[Mapping[Any, Any]], seed: int) -> Played:
    """Play the joint actions in PettingZoo's own loop of parallel environments."""
    game = odd_games.Odd(how)
    game.reset(seed=seed)
    returns = dict.fromkeys(game.possible_agents, 0.0)
    steps = 0
    late = False
    while game.agents and steps < len(joints):
        joint = joints[steps]
        actions = {agent: action_of(game, agent, joint[game.possible_agents.index(agent)]) for agent in game.agents}
        _, rewards, _, truncations, _ = game.step(actions)
        returns = {agent: total + number(rewards.get(agent, 0)) for agent, total in returns.items()}
        late = any(truncations.values())
        steps += 1
    game.close() if how != "close fails" else odd_games.OPEN.clear()
    assert not game.agents or how == "agents stay in the list"
    return Played([*returns.values()], steps, "truncated" if late else "ended")


def action_of(game: Any, agent: Any, value: Any) -> Any:
    """Return an action as the space has it, from what the trace has."""
    space = game.action_space(agent)
    if isinstance(value, int):
        return value
    if isinstance(value, list):
        return np.array(value, space.dtype)
    if "gear" in value:
        return {"gear": value["gear"], "arm": np.array(value["arm"])}
    return tuple(value[f"part_{index}"] for index in range(2))


def own_turns(how: str, joints: Sequence[Sequence[Any]], seed: int, books: str) -> Played:
    """Play the actions in PettingZoo's own loop of turns."""
    game = odd_games.Turns(how)
    game.reset(seed=seed)
    returns = dict.fromkeys(game.possible_agents, 0.0)
    steps = 0
    late = False
    for agent in game.agent_iter():
        if books == "last":
            returns[agent] += number(game.last()[1])
        ended = game.terminations[agent] or game.truncations[agent]
        game.step(None if ended else joints[steps][game.possible_agents.index(agent)])
        if not ended:
            steps += 1
            late = any(game.truncations.values())
            if books == "rewards":
                returns = {name: total + number(game.rewards.get(name, 0)) for name, total in returns.items()}
    game.close()
    return Played([*returns.values()], steps, "truncated" if late else "ended")


def joints_of(folder: Path) -> list[Any]:
    return [step.joint for step in RunFolder(folder).trace().of(StepTaken)]


def seed_of(folder: Path) -> int:
    return RunFolder(folder).trace().start.seed


@pytest.mark.parametrize("how", PARALLEL)
def test_the_books_of_a_parallel_environment_are_those_of_pettingzoos_own_loop(how: str, tmp_path: Path) -> None:
    folder, books, metrics = run("Odd", how, tmp_path)
    own = own_parallel(how, joints_of(folder), seed_of(folder))
    assert books == (pytest.approx(own.returns), own.steps, own.outcome)
    assert metrics["outcome.success"] is None
    assert metrics["outcome.return"] == pytest.approx(sum(own.returns) / len(own.returns))


@pytest.mark.parametrize("how", TURNS)
def test_the_books_of_an_environment_of_turns_are_those_of_pettingzoos_own_loop(how: str, tmp_path: Path) -> None:
    folder, books, metrics = run("Turns", how, tmp_path)
    own = own_turns(how, joints_of(folder), seed_of(folder), TURNS[how])
    assert books == (pytest.approx(own.returns), own.steps, own.outcome)
    assert own.returns != [0, 0]
    assert metrics["outcome.success"] is None


@pytest.mark.parametrize("how", WRONG)
def test_a_wrong_form_of_a_parallel_environment_is_one_message_with_its_line(how: str, tmp_path: Path) -> None:
    found = refused(*(("NoSeed", "") if how == "NoSeed" else ("Odd", how)), tmp_path)
    assert re.search(r"odd_games\.py:\d+", found)
    assert WRONG[how] in found
    assert len(found.splitlines()) <= 2


@pytest.mark.parametrize("how", WRONG_TURNS)
def test_a_wrong_form_of_an_environment_of_turns_is_one_message_with_its_line(how: str, tmp_path: Path) -> None:
    found = refused("Turns", how, tmp_path)
    assert re.search(r"odd_games\.py:\d+", found)
    assert WRONG_TURNS[how] in found
    assert len(found.splitlines()) <= 2


@pytest.mark.parametrize("function", ["NoMode", "OneMode"])
def test_what_takes_no_render_mode_is_made_without_and_still_renders(function: str, tmp_path: Path) -> None:
    folder, books, _ = run(function, "", tmp_path)
    assert books.steps == odd_games.LIMIT
    assert np.array_equal(picture(folder), odd_games.PICTURE)


def picture(folder: Path) -> Any:
    episode = open_episode(folder)
    world: Any = episode.world()
    try:
        next(episode.replay(world))
        return world.draw().image
    finally:
        world.close()


@pytest.mark.parametrize("how", PICTURE)
def test_a_picture_of_another_form_is_shown(how: str, tmp_path: Path) -> None:
    folder, _, _ = run("Odd", how, tmp_path)
    assert np.array_equal(picture(folder), PICTURE[how])


@pytest.mark.parametrize("how", NO_PICTURE)
def test_what_is_no_picture_is_one_message_and_a_replay_in_the_terminal_needs_none(
    how: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, books, _ = run("Odd", how, tmp_path / "runs")
    console = Console()
    run_replay([folder], None, console, fps=8, first=0, last=None, width=None, quiet=False)
    assert f"step {books.steps} of {books.steps}" in capsys.readouterr().out
    with pytest.raises(ContractError) as caught:
        picture(folder)
    found = str(as_extension_error(caught.value))
    assert re.search(r"odd_games\.py:\d+", found)
    assert NO_PICTURE[how] in found


MODULES = {
    "raise RuntimeError('no display')": "cannot be imported: RuntimeError: no display (broken_game.py:2)",
    "x = (": "cannot be imported: SyntaxError: '(' was never closed",
    "import sys; sys.exit('no')": "cannot be imported: SystemExit: no (broken_game.py:2)",
    "import no_such_module": "needs the module no_such_module: pip install it",
    "from json import no_such_name": "cannot be imported: ImportError: cannot import name",
}  # fmt: skip


@pytest.mark.parametrize("line", MODULES)
def test_a_module_that_raises_on_import_is_one_message_with_its_line(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken_game.py").write_text(f"# a game\n{line}\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "broken_game", raising=False)
    with pytest.raises(UserError) as caught:
        Cell.compose(["env=pettingzoo", "env.id=broken_game", "n=2", "agents=idle"])
    assert f"env.id: broken_game {MODULES[line]}" in str(caught.value)


def test_the_command_ends_with_one_message_and_no_traceback(quorum: Quorum) -> None:
    for how, code in (("rewards None", 1), ("reset gives None", 2)):
        words = ["env=pettingzoo", "env.id=odd_games", f"env.kwargs.how='{how}'", "n=2", "agents=random"]
        done = quorum("run", *words)
        assert done.returncode == code
        assert WRONG[how] in done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize("how", [how for how in PARALLEL if how.startswith("mask of")])
def test_a_mask_of_numbers_is_shown_and_bounds_plans_and_waiting(how: str) -> None:
    world = build(
        PettingZooConfig(name="pettingzoo", n=2, id="odd_games:Odd", kwargs={"how": how}, description=None, max_steps=9)
    )
    with closing_world(world):
        world.reset(0)
        legal = world.observe(0).legal
        assert legal == LEGAL.get(how, legal)
        assert legal is not None
        waiting = world.start_action(0, world.idle).act()
        name = world.vocabulary.names[0]
        allowed, refused = (
            Plan((world.vocabulary.parse({"action": name, **arguments(world, value)}),))
            for value in (waiting, ILLEGAL.get(how, 0))
        )
        assert world.check_plan(0, allowed) == ()
        assert ["not legal now" in reason for reason in world.check_plan(0, refused)] == [True]


LEGAL = {
    "mask of truth values": [1, 2],
    "mask of MultiDiscrete": [[1], [1]],
    "mask of MultiDiscrete with a start": [[6], [2]],
    "mask of MultiBinary": [[1], None],
    "mask of Dict": {"gear": [1], "arm": [[1], [0, 1]]},
    "mask of Tuple": {"part_0": [1], "part_1": [1]},
}
ILLEGAL = {
    "mask of MultiDiscrete": [1, 0],
    "mask of MultiDiscrete with a start": [6, 1],
    "mask of MultiBinary": [0, 1],
    "mask of Dict": {"gear": 1, "arm": [0, 0]},
    "mask of Tuple": {"part_0": 0, "part_1": 1},
}


def arguments(world: Any, value: Any) -> dict[str, Any]:
    return {"choice" if isinstance(value, int) else "values": value}


def test_nested_observations_keep_separators_and_lose_nothing() -> None:
    for how, names in {
        "nested observations": ["arm.joint", "arm.observation", "arm.joint2", "pair.part_0", "pair.part_1.x"],
        "observation of the same name": ["observation.x", "x"],
    }.items():
        config = PettingZooConfig(
            name="pettingzoo", n=2, id="odd_games:Odd", kwargs={"how": how}, description=None, max_steps=9
        )
        with closing_world(build(config)) as world:
            world.reset(0)
            assert list(world.observe(0).sees) == names


@pytest.mark.conformance
def test_every_verb_closes_an_environment_before_it_makes_the_next(quorum: Quorum, tmp_path: Path) -> None:
    game = ["env=pettingzoo", "env.id=odd_games", "n=2"]
    trusted = ["--plugin", "odd_games"]
    for words in (
        ["run", *game, "agents=naive", "topology=debate", "--quiet"],
        ["sweep", *game, "agents=naive", "topology=individual,debate", "seed=0,1", "--out", "swept", "--quiet",
         "engine.workers=1", "engine.episodes=1"],
        ["show", "prompt", *game, "agents=naive"],
        ["show", *game, "agents=naive"],
        ["replay", "RUN", *trusted],
        ["replay", "RUN", "--out", "film.gif", *trusted],
        ["view", "RUN", "--export", "page.html", *trusted],
        ["branch", "RUN", "--at", "0", "topology=individual", "--quiet", *trusted],
        ["blame", "RUN", "--reference", "random", "--success", "score>=99", "--no-shares", *trusted],
    ):  # fmt: skip
        run = str(min((tmp_path / "runs").iterdir())) if (tmp_path / "runs").exists() else ""
        done = quorum(*(run if word == "RUN" else word for word in words))
        assert done.returncode == 0, (words, done.stderr)
        assert "the port is in use" not in done.stderr
    assert "port is in use" not in (tmp_path / "page.html").read_text(encoding="utf-8")
