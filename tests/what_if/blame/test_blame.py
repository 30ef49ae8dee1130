"""A planted mistake is found: the agent and the step; and what is claimed can be played again."""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

from maeil.trace import read_trace
from maeil.trace.events import ThoughtStart
from quorum.configuration.cell import Cell
from quorum.episode.runner import Result, run_cell
from quorum.runs.verify import verify_run
from quorum.what_if.blame.answer import Question
from quorum.what_if.blame.attempts import JOURNAL, Budget
from quorum.what_if.blame.command import ManyRuns, blame_folder
from quorum.what_if.blame.ending import Ending, Success
from quorum.what_if.blame.reruns import Correction
from quorum.what_if.blame.search import BLAME, blame
from quorum.what_if.branch.parent import Parent
from quorum_base.user_errors import UserError
from tests.conftest import PLUGINS, Quorum

CONFIGS = PLUGINS / "slips_configs"
AWAY = {
    "env=cube n=4 seed=2": {"action": "idle", "steps": 10},
    "env=transport n=4 seed=3": {"action": "wait", "steps": 12},
}
"""Cells, and a plan that does no good in each."""


def played(words: str, out: Path) -> Result:
    return run_cell(Cell.compose(words.split(), CONFIGS), out)


def planted(words: str, agent: int, turn: int, out: Path, *, lasts: bool = False) -> Result:
    """Play a team of which one agent plans nonsense, in a time that is enough without that, even if somebody waits."""
    clean = played(f"{words} agents=heuristic max_steps=200", out)
    actions = orjson.dumps([AWAY[words]]).decode().replace('"', "")
    reported = [*words.split(), "agents=slips", f"agents.agent={agent}", f"agents.turn={turn}", f"agents.lasts={lasts}"]
    steps = int(clean.metrics["outcome.steps"] or 0)
    return run_cell(Cell.compose([*reported, f"agents.actions={actions}", f"max_steps={steps + 3}"], CONFIGS), out)


def slips_at(run: Path, agent: int, turn: int) -> tuple[int, int | float]:
    """Return step and time at which the agent began to think for the plan in which it slips."""
    found = [s for s in read_trace(run).events if isinstance(s.event, ThoughtStart) and s.event.agent == agent]
    return found[turn].t, found[turn].t_hat


def failed(words: str, tmp_path: Path, *, lasts: bool = False) -> Iterator[tuple[Path, int, int]]:
    for agent in range(4):
        for turn in range(2):
            run = planted(words, agent, turn, tmp_path, lasts=lasts)
            if not run.metrics["outcome.success"]:
                yield run.folder, agent, turn


def test_the_same_mind_with_another_value_is_a_reference(tmp_path: Path) -> None:
    run, agent, turn = next(failed(next(iter(AWAY)), tmp_path))
    found = blame(run, Question(("agents.agent=-1",), shares=False, margin=0, config_dir=CONFIGS))
    assert (found.verdict.agent, found.verdict.t) == (f"agent_{agent}", slips_at(run, agent, turn)[0])


@pytest.mark.parametrize("words", AWAY)
def test_one_wrong_plan_is_found_with_its_agent_and_its_step(words: str, tmp_path: Path) -> None:
    cases = list(failed(words, tmp_path))
    assert cases
    for run, agent, turn in cases:
        found = blame(run, Question(by=("heuristic",), shares=False, margin=0))
        assert (found.verdict.agent, (found.verdict.t, found.verdict.t_hat)) == (
            f"agent_{agent}",
            slips_at(run, agent, turn),
        )
        assert (found.verdict.probability or 0) > 0.8
        assert found.exact


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of four agents, one of which goes right whatever it sees."""
    words = "n=4 max_steps=60 seed=2 agents=heuristic agents.members.agent_2=always_right"
    return run_cell(Cell.compose(words.split()), tmp_path_factory.mktemp("runs")).folder


def copied(run: Path, out: Path) -> Path:
    return Path(shutil.copytree(run, out / run.name))


def test_what_is_claimed_is_a_command_that_makes_it_a_success(run: Path, tmp_path: Path, quorum: Quorum) -> None:
    found = blame(copied(run, tmp_path), Question(margin=0))
    assert found.verdict.agent is None
    assert "no single decision: the run succeeds when heuristic decides for agent_2 throughout" in found.verdict.reason
    first, second = found.verdict.causes[:2]  # several turns save it, and share the probability
    assert first.probability == pytest.approx(second.probability)
    commands = [first.command, second.command, *found.sets]
    assert len(commands) >= 3
    for command in commands:
        done = quorum(*shlex.split(command)[1:], "--json")
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["metrics"]["outcome.success"] is True


def test_the_whole_share_is_that_of_the_one_who_fails(run: Path, tmp_path: Path) -> None:
    work = blame(copied(run, tmp_path), Question(margin=0)).shares
    assert work is not None
    assert work.success == [0, 0, 1, 0]
    assert work.sets == (("agent_2",),)


def test_what_was_found_is_kept_and_the_run_is_still_whole(run: Path, tmp_path: Path) -> None:
    folder = copied(run, tmp_path)
    found = blame(folder, Question(margin=0))
    assert json.loads((folder / BLAME).read_text())["verdict"] == found.verdict.to_json()
    assert verify_run(folder).problems == []
    assert Parent.open(folder).episode.steps == found.ending.steps


FOR_EVER = "[{action:wait,steps:400}]"
TRANSPORT = ["env=transport", "n=4", "seed=3", "max_steps=6", "agents=slips", "agents.lasts=false"]


def test_a_decision_after_which_the_task_is_never_finished_is_the_cause(tmp_path: Path, quorum: Quorum) -> None:
    """With the deadline of four times the limit, by the command; its own command saves the run."""
    slip = ["agents.agent=1", "agents.turn=1", f"agents.actions={FOR_EVER}"]
    run = run_cell(Cell.compose([*TRANSPORT, *slip], CONFIGS), tmp_path).folder
    known = ("--plugin", "slips", "--config-dir", str(CONFIGS), "--json")
    done = quorum("blame", str(run), "--reference", "heuristic", "--no-shares", *known)
    assert done.returncode == 0, done.stderr
    verdict = json.loads(done.stdout)["verdict"]
    assert (verdict["agent"], verdict["t"]) == ("agent_1", slips_at(run, 1, 1)[0])
    assert verdict["probability"] > 0.8
    cause = verdict["causes"][0]
    assert (cause["corrected"], cause["placebo"]) == ({"wins": 5, "draws": 5}, {"wins": 0, "draws": 4})
    again = quorum(*shlex.split(cause["command"])[1:], "--plugin", "slips", "--json")
    assert json.loads(again.stdout)["metrics"]["outcome.success"] is True


def test_two_agents_that_both_slip_are_joint_causes_and_one_command_corrects_both(
    tmp_path: Path, quorum: Quorum
) -> None:
    slips = ["agents.agent=0", "agents.turn=0", f"agents.actions={FOR_EVER}"]
    other = ["agents.members.agent_1=slips", "agents.members.agent_1.agent=1", "agents.members.agent_1.turn=1"]
    more = ["agents.members.agent_1.lasts=false", f"agents.members.agent_1.actions={FOR_EVER}"]
    run = run_cell(Cell.compose([*TRANSPORT, *slips, *other, *more], CONFIGS), tmp_path).folder
    found = blame(run, Question(by=("heuristic",), shares=False, config_dir=CONFIGS)).verdict
    assert found.agent is None
    assert found.reason.startswith("no single decision: agent_0 at 0:0 and agent_1 at ")
    cause = found.causes[0]
    assert [one.agent for one in cause.decisions] == ["agent_0", "agent_1"]
    assert cause.probability > 0.5
    again = quorum(*shlex.split(cause.command)[1:], "--plugin", "slips", "--json")
    assert json.loads(again.stdout)["metrics"]["outcome.success"] is True


def test_with_the_simulated_model_nothing_is_called_exact_and_draws_are_counted(tmp_path: Path) -> None:
    words = ["env=transport", "n=3", "max_steps=2", "agents=naive", "topology=dialogue"]
    run = run_cell(Cell.compose(words), tmp_path).folder
    found = blame(run, Question(by=("heuristic",), shares=False, draws=2, margin=2, budget=Budget(reruns=60)))
    assert "exact" not in str(found)
    assert not found.exact
    drawn = [cause for cause in found.verdict.causes if len(cause.decisions) == 1]
    assert found.verdict.kind == "late" or all(cause.corrected.draws == 2 for cause in drawn)


def test_a_run_that_would_have_finished_a_little_later_is_late_and_nobody_is_blamed(tmp_path: Path) -> None:
    run, _, _ = next(failed("env=cube n=4 seed=2", tmp_path))
    found = blame(run, Question(by=("heuristic",)))
    assert (found.verdict.agent, found.verdict.kind, found.verdict.causes) == (None, "late", ())
    assert "late: the run would have finished after 55 steps, and its limit is 54" in str(found)
    assert "would have made differently" not in str(found)  # which is no news of a run that only needed longer
    assert found.reruns == 1


def test_a_killed_command_goes_on_from_what_it_has_played(run: Path, tmp_path: Path) -> None:
    folder = copied(run, tmp_path)
    whole = blame(folder, Question(margin=0))
    played = (folder / JOURNAL).read_bytes().splitlines(keepends=True)
    assert len(played) == whole.reruns
    no_text = played[5].replace(b'"outcome":"', b'"outcome":"\xdc')
    (folder / JOURNAL).write_bytes(b"".join(played[:5]) + no_text + played[5][:20])
    (folder / BLAME).unlink()
    again: list[Correction] = []
    assert blame(folder, Question(margin=0), again.append) == whole
    assert len(again) == whole.reruns - 5
    nothing: list[Correction] = []
    assert blame(folder, Question(margin=0), nothing.append) == whole
    assert not nothing


def test_a_journal_of_another_question_is_not_taken_for_this_one(run: Path, tmp_path: Path) -> None:
    folder = copied(run, tmp_path)
    blame(folder, Question(margin=0))
    other: list[Correction] = []
    blame(folder, Question(by=("naive",), shares=False), other.append)
    assert other


def test_two_commands_do_not_play_the_same_at_once(run: Path, tmp_path: Path) -> None:
    folder = copied(run, tmp_path)
    asked: list[Correction] = []

    def ask_again(played: Correction) -> None:
        asked.append(played)
        if len(asked) == 1:
            with pytest.raises(UserError, match="another quorum blame is at work on this run"):
                blame(folder, Question(margin=0), asked.append)

    blame(folder, Question(margin=0), ask_again)
    assert len(asked) == len(set(asked))
    blame(folder, Question(margin=0), asked.append)  # the journal is free again, and nothing is played twice
    assert len(asked) == len(set(asked))


def test_a_budget_ends_the_search_and_says_what_is_not_known(run: Path, tmp_path: Path) -> None:
    folder = copied(run, tmp_path)
    played: list[Correction] = []
    found = blame(folder, Question(margin=0, budget=Budget(reruns=2)), played.append)
    assert len(played) == 2
    assert (found.verdict.agent, found.verdict.probability) == (None, None)
    assert "the budget ended the search" in found.verdict.reason
    assert any("the experiment ended early: the limit of 2 re-runs is reached" in note for note in found.notes)
    assert "agent_2" in blame(folder, Question(margin=0)).verdict.reason


def test_of_a_success_nobody_is_to_blame_and_its_folder_is_left_alone(tmp_path: Path, quorum: Quorum) -> None:
    run = played("n=2 agents=heuristic max_steps=100 seed=1", tmp_path).folder
    before = sorted(path.name for path in run.iterdir())
    done = quorum("blame", str(run))
    assert done.returncode == 0, done.stderr
    assert "nobody is to blame" in done.stdout
    assert sorted(path.name for path in run.iterdir()) == before


def test_a_run_that_nobody_can_save_is_not_blamed_on_the_team(tmp_path: Path) -> None:
    run = played("n=4 agents=heuristic max_steps=3 seed=1", tmp_path).folder
    found = blame(run, Question(by=("heuristic",)))
    assert found.verdict.agent is None
    assert "not the team's decisions" in found.verdict.reason
    assert any("no team could finish" in note for note in found.notes)


def test_a_mistake_that_keeps_all_runs_of_a_folder_from_being_blamed_is_reported_once(tmp_path: Path) -> None:
    for seed in range(2):
        run_cell(Cell.compose(["n=2", "max_steps=3", f"seed={seed}"]), tmp_path)
    with pytest.raises(UserError, match=r"none of its 2 runs can be blamed; .*: there is no option 'nobody'"):
        blame_folder(tmp_path, Question(("nobody",), shares=False))


def test_a_folder_of_runs_gives_a_line_each_and_tells_what_cannot_be_blamed(run: Path, tmp_path: Path) -> None:
    copied(run, tmp_path)
    success = played("n=2 agents=heuristic max_steps=100 seed=1", tmp_path).folder
    timed = played("env=squeeze n=2 max_steps=2 clock=seconds", tmp_path).folder
    found = blame_folder(tmp_path, Question(shares=False, margin=0))
    assert isinstance(found, ManyRuns)
    assert [one.run.name for one in found.found] == [run.name]
    assert found.successes == (success.name,)
    assert [name for name, _ in found.refused] == [timed.name]
    text = "\n".join(found.lines())
    assert "1 failed runs, 1 of them without a single decisive mistake; 1 successes" in text
    assert "real time" in text


REFUSED = {
    "nobody": ({"by": ("heuristc",)}, "there is no option 'heuristc'"),
    "cannot take over": ({"by": ("tom",)}, "agents=tom cannot take over"),
    "two minds": ({"by": ("heuristic", "naive")}, "give one mind"),
    "another world": ({"by": ("env.rho=1",)}, "a reference is a mind or a model"),
    "after the end": ({"since": 99}, "--shares-from 99: the run ends after step 60"),
    "two bounds": ({"success": Success.parse("steps<=9"), "margin": 0}, "--margin 0: steps<=9 has its own bound"),
    "not paid for": ({"by": ("naive", "llm.model=gpt-5")}, "gpt-5|model"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_asked_is_refused_and_nothing_is_written(case: str, run: Path, tmp_path: Path) -> None:
    folder = copied(run, tmp_path)
    before = sorted(path.name for path in folder.iterdir())
    values, message = REFUSED[case]
    with pytest.raises(UserError, match=message):
        blame(folder, Question(**values))
    assert sorted(path.name for path in folder.iterdir()) == before


@pytest.mark.parametrize(
    ("text", "met"),
    [("success", True), ("steps<=60", True), ("steps <= 59", False), ("score>=3", True), ("reached>=4", False)],
)
def test_what_counts_as_a_success_is_said_in_a_line(text: str, met: bool) -> None:
    assert Success.parse(text).met(Ending("success", 60, 3, 3, 3.0)) is met
    assert not Success.parse("steps<=60").met(Ending("truncated", 60, 3, 3, 3.0))
    for wrong in ("steps>=3", "done", "score=3", "steps<=x"):
        with pytest.raises(UserError, match="no condition of success"):
            Success.parse(wrong)


def test_in_a_world_with_luck_each_draw_of_both_arms_has_its_own(tmp_path: Path) -> None:
    run = run_cell(
        Cell.compose(["env=crafter_coop", "n=2", "max_steps=12", "seed=3", "agents=heuristic"]), tmp_path
    ).folder
    asked: list[Correction] = []
    question = Question(("idle",), Success.parse("score>=50"), Budget(reruns=5), draws=2, shares=False)
    found = blame(run, question, asked.append)
    assert not found.exact
    assert [(one.luck, one.draw) for one in asked if not one.minds] == [(True, 0), (True, 1)] * 2
    (cause, *_) = found.verdict.causes
    assert cause.corrected.draws == 2
    assert cause.command.endswith("--draws 2 --no-control --luck")
    assert not any("luck" in note for note in found.notes)
