"""Preference pairs: answers to one prompt, forced in the same draws, and which of them went better."""

from __future__ import annotations

import json
import shutil
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest

from maeil.trace import comparable, read_trace
from maeil.trace.events import EpisodeEnd
from quorum.agents.llm.protocol import Reply, Request
from quorum.agents.llm.recording import unfolded
from quorum.agents.simulated import SimulatedSettings
from quorum.agents.simulated.model import SimulatedModel
from quorum.configuration.cell import Cell
from quorum.episode.runner import run_cell
from quorum.runs.recorded_episode import open_episode
from quorum.view.export.command import estimate, export
from quorum.view.export.selection import Split
from quorum.what_if.branch.change import Change
from quorum.what_if.branch.forced_answer import ForcedAnswer
from quorum.what_if.branch.parent import Parent
from quorum.what_if.extensions.luck.events import WorldLuck
from quorum.what_if.preferences import command
from quorum.what_if.preferences.decisions import decisions_of, digest_of
from quorum.what_if.preferences.design import Design
from quorum.what_if.preferences.pairs import margin
from quorum_base.user_errors import UserError
from tests.serving import served

SAMPLED = ("llm.temperature=8", "llm.poor=0.5", "agents=naive", "topology=individual", "n=2")
BRANCHES = "export-preferences-branches"
Row = Mapping[str, Any]


def exported(runs: Path, out: Path, measure: str, **options: Any) -> tuple[list[Row], str, Sequence[str]]:
    """Export preferences, and return the pairs, the card and the remarks."""
    _, remarks = export(runs, "preferences", out, calls=False, force=True, options={"measure": measure, **options})
    rows = [json.loads(line) for line in (out / "train.jsonl").read_text().splitlines()]
    return rows, (out / "README.md").read_text(), remarks


def calls_of(run: Path) -> list[dict[str, Any]]:
    return list(unfolded((run / "calls.jsonl").read_bytes().splitlines(keepends=True)))


def branches_of(runs: Path) -> list[Path]:
    return sorted(path for path in (runs / BRANCHES).iterdir() if (path / "meta.json").exists())


def origin_of(run: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((run / "meta.json").read_text())["branch"]
    return found


@pytest.fixture(scope="module", autouse=True)
def no_plugin_of_other_tests() -> Iterator[None]:
    """A test before these in the same process may have loaded plugins, which workers cannot find any more."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(command, "NAMED_MODULES", frozenset())
        yield


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Row], str]:
    """Pairs of two runs of a simulated team, measured again on fresh draws; nobody changes them."""
    out = tmp_path_factory.mktemp("simulated")
    for seed in (0, 2):
        run_cell(Cell.compose([*SAMPLED, f"seed={seed}", "max_steps=70"]), out / "runs")
    rows, card, _ = exported(out / "runs", out / "pairs", "decisions=2,answers=2,draws=6,fresh=3")
    return out / "runs", rows, card


def test_the_prompts_of_all_answers_are_those_of_the_run_byte_for_byte(
    simulated: tuple[Path, list[Row], str],
) -> None:
    runs, rows, _ = simulated
    assert rows
    checked = 0
    for row in rows:
        for call in calls_of(runs / row["run"]):
            if digest_of(call) == row["prompt_digest"] and call["agent"] == row["agent"]:
                said = [{key: message[key] for key in ("role", "content")} for message in call["request"]["messages"]]
                assert said == row["prompt"]
                break
        else:
            pytest.fail("the prompt is not in the run")
        texts = [row[side][0]["content"] for side in ("chosen", "rejected")]
        assert texts[0] != texts[1]
        for branch in branches_of(runs):
            changes = origin_of(branch)["told"]
            digests = [f"{row['agent']}:{sha256(text.encode()).hexdigest()[:16]}" for text in texts]
            if not changes or changes[0].partition(" ")[2] not in digests or origin_of(branch)["run"] != row["run"]:
                continue
            own = [call for call in calls_of(branch) if call["agent"] == row["agent"] and call["t"] == row["step"]]
            answers = [one["reply"]["text"] for one in own if one["request"]["messages"] == call["request"]["messages"]]
            assert answers == [texts[digests.index(changes[0].partition(" ")[2])]]
            checked += 1
    assert checked >= 2 * 6


def test_the_columns_say_where_a_pair_comes_from_and_what_it_measured(simulated: tuple[Path, list[Row], str]) -> None:
    _, rows, card = simulated
    row = rows[0]
    assert [message["role"] for message in row["prompt"]] == ["system", "user"]
    assert [message["role"] for message in row["chosen"] + row["rejected"]] == ["assistant"] * 2
    known = {key: row[key] for key in ("n", "world", "topology", "turn", "model", "simulated", "metric", "draws")}
    assert known == {
        "n": 2, "world": "cube", "topology": "individual", "turn": "plan", "model": "simulated", "simulated": True,
        "metric": "outcome.steps_or_limit", "draws": 6,
    }  # fmt: skip
    assert all(row["margin"] > 0 and row["fresh_draws"] == 3 for row in rows)
    assert f"| pairs | {len(rows)} |" in card
    assert "| mean margin on the draws that chose |" in card
    assert "| mean margin on 3 fresh draws |" in card
    assert "A simulated model" in card


def test_margins_are_differences_of_the_outcomes_of_the_branches(simulated: tuple[Path, list[Row], str]) -> None:
    """An independent reading: all branches of a decision by answer and draw, from their traces alone."""
    runs, rows, _ = simulated
    for row in rows:
        outcomes: dict[tuple[str, int], int] = {}
        for branch in branches_of(runs):
            origin = origin_of(branch)
            if origin["run"] != row["run"] or origin["t"] != row["step"]:
                continue
            asked = [call for call in calls_of(branch) if call["agent"] == row["agent"] and call["t"] == row["step"]]
            asked = [call for call in asked if digest_of(call) == row["prompt_digest"]]
            if origin["told"] and not origin["told"][0].startswith(f"--answer {row['agent']}:"):
                continue
            trace = read_trace(branch)
            (end,) = (s.event for s in trace.events if isinstance(s.event, EpisodeEnd))
            steps = max(s.t for s in trace.events)
            outcomes[asked[0]["reply"]["text"], origin["draw"]] = steps if end.outcome == "success" else 70
        better, worse = (row[side][0]["content"] for side in ("chosen", "rejected"))
        for prefix, draws in (("", range(1, 7)), ("fresh_", range(7, 10))):
            delta = [outcomes[worse, draw] - outcomes[better, draw] for draw in draws]
            assert row[f"{prefix}margin"] == pytest.approx(np.mean(delta))
        assert {draw for text, draw in outcomes if text == better} == set(range(1, 10))


def test_equal_prompts_get_equal_answers_in_one_draw_and_not_in_all(simulated: tuple[Path, list[Row], str]) -> None:
    runs, _, _ = simulated
    by_draw: defaultdict[tuple[Any, ...], set[str]] = defaultdict(set)
    over_draws: defaultdict[tuple[Any, ...], set[str]] = defaultdict(set)
    for branch in branches_of(runs):
        origin = origin_of(branch)
        for call in calls_of(branch):
            if not call["reply"]["wall"].get("recorded"):
                asked = (call["agent"], orjson.dumps(call["request"]["messages"]))
                by_draw[origin["run"], origin["draw"], *asked].add(call["reply"]["text"])
                over_draws[origin["run"], *asked].add(call["reply"]["text"])
    assert max(map(len, by_draw.values())) == 1
    assert max(map(len, over_draws.values())) > 1


def test_an_answer_that_is_forced_goes_on_as_where_the_model_gave_it(tmp_path: Path) -> None:
    run = run_cell(Cell.compose([*SAMPLED, "max_steps=40"]), tmp_path).folder
    parent = Parent.open(run)
    for decision in decisions_of(parent.episode)[:3]:
        for draw in (1, 2):
            planned = parent.branch(decision.instant, Change(), draw)
            sampled = run_cell(planned.cell, tmp_path / "sampled", start=planned.start).folder
            call = decision.again(sampled)
            assert call is not None
            answer = ForcedAnswer.of(decision.agent, decision.line, call["reply"])
            planned = parent.branch(decision.instant, Change(answer=answer), draw)
            forced = run_cell(planned.cell, tmp_path / "forced", start=planned.start).folder
            assert comparable(forced)[1:] == comparable(sampled)[1:]


def test_a_branch_of_a_forced_branch_begins_as_that_did(tmp_path: Path) -> None:
    words = [word for word in SAMPLED if not word.startswith("topology")]
    run = run_cell(Cell.compose([*words, "max_steps=40", "topology=debate"]), tmp_path).folder
    parent = Parent.open(run)
    first = decisions_of(parent.episode)[0]
    for draw in range(1, 20):
        planned = parent.branch(first.instant, Change(), draw)
        call = first.again(run_cell(planned.cell, tmp_path / "sampled", start=planned.start).folder)
        if call is not None and call["reply"]["text"] != first.call["reply"]["text"]:
            break
    assert call is not None
    answer = ForcedAnswer.of(first.agent, first.line, call["reply"])
    planned = parent.branch(first.instant, Change(answer=answer), 3)
    forced = run_cell(planned.cell, tmp_path, start=planned.start).folder
    assert comparable(forced)[1:] != comparable(run)[1:]
    last = decisions_of(open_episode(forced))[-1]
    again = Parent.open(forced).branch(last.instant, Change())
    assert comparable(run_cell(again.cell, tmp_path / "again", start=again.start).folder)[1:] == comparable(forced)[1:]


class Idler:
    """A model that waits when it gets its first prompt for the first time, and plays by the rules when asked again."""

    def __init__(self, edit: Any = None) -> None:
        self._brain = SimulatedModel(SimulatedSettings(**dict.fromkeys(SimulatedSettings.model_fields, 0)))
        self._first = ""
        self._edit = edit or (lambda value: value["plan"].update(actions=[{"action": "idle", "steps": 30}]))
        self.requests = 0

    async def complete(self, request: Request) -> Reply:
        self.requests += 1
        asked = request.messages[-1].content
        reply = await self._brain.complete(request)
        if not self._first and '"you":{"name":"agent_0"' in asked:
            self._first = asked
            value = json.loads(reply.text)
            self._edit(value)
            text = orjson.dumps(value).decode()
            return Reply(text, reply.finish, reply.usage, reply.usd, reply.seconds, reply.model)
        return reply


@pytest.fixture
def idle_run(tmp_path: Path) -> Iterator[tuple[Path, Idler]]:
    """A run in which agent_0 waits at first, and the server of its model."""
    yield from played_by(Idler(), tmp_path)


def played_by(brain: Idler, tmp_path: Path) -> Iterator[tuple[Path, Idler]]:
    with served(brain) as addresses:
        model = ("llm=openai", "llm.model=simulated", f"llm.base_url={addresses.openai}", "llm.api_key_env=null")
        words = ("agents=naive", "topology=individual", "n=2", "seed=1", "max_steps=60", "llm.temperature=0.5")
        run_cell(Cell.compose([*words, *model, "llm.cache=false"]), tmp_path / "runs")
        yield tmp_path / "runs", brain


def first_only(brain: Idler) -> str:
    """Check that the first answer was edited, and return the agent."""
    assert brain._first
    return "agent_0"


def test_the_answer_that_works_is_chosen_over_the_one_that_idles(idle_run: tuple[Path, Idler], tmp_path: Path) -> None:
    runs, brain = idle_run
    agent = first_only(brain)
    measure = "decisions=100,answers=1,draws=6"
    rows, card, _ = exported(runs, tmp_path / "pairs", measure, budget_calls=10_000, agents=agent, turns="plan")
    (row,) = (row for row in rows if row["step"] == 0)
    assert '"idle"' in row["rejected"][0]["content"]
    assert '"idle"' not in row["chosen"][0]["content"]
    assert row["margin"] > 5
    assert row["simulated"]  # the server says so
    assert "A simulated model" in card
    assert rows == [row]  # at all other decisions the model repeats its answer


@pytest.mark.conformance
def test_ties_are_left_out_and_counted(tmp_path: Path) -> None:
    """The recorded answer differs from all later ones by a word that changes nothing."""

    def other_words(value: dict[str, Any]) -> None:
        value["thoughts"] = "Z" * len(value["thoughts"])

    for runs, brain in played_by(Idler(other_words), tmp_path):
        first_only(brain)
        with pytest.raises(UserError) as refused:
            exported(runs, tmp_path / "pairs", "decisions=100,answers=2,draws=2", budget_calls=10_000)
        assert "ties, left out: 1;" in refused.value.message
        assert not (tmp_path / "pairs").exists()


def test_a_paid_model_needs_a_budget_and_a_dry_run_plays_nothing(idle_run: tuple[Path, Idler], tmp_path: Path) -> None:
    runs, brain = idle_run
    before, found = brain.requests, sorted(path.name for path in runs.iterdir())
    with pytest.raises(UserError, match="episodes ask paid language models"):
        exported(runs, tmp_path / "pairs", "decisions=1,answers=1,draws=2")
    options = {"measure": "decisions=2,answers=2,draws=4,fresh=1", "dry_run": True}
    expected = estimate(runs, "preferences", where="", options=options)
    assert expected is not None
    assert expected["decisions"] == 2
    assert expected["episodes"] == 2 * (2 + 1) * (4 + 1)
    assert expected["answers"] > 0
    assert (brain.requests, sorted(path.name for path in runs.iterdir())) == (before, found)


@pytest.mark.conformance
def test_a_budget_stops_the_measurement_and_a_larger_one_continues_it(
    idle_run: tuple[Path, Idler], tmp_path: Path
) -> None:
    runs, brain = idle_run
    copy, measure = tmp_path / "copy" / "runs", "decisions=1,answers=1,draws=3"
    shutil.copytree(runs, copy)
    before = brain.requests
    options = {"agents": "agent_0", "turns": "plan"}
    first = decisions_of(open_episode(next(copy.iterdir())))
    whole = sum(one.agent == "agent_0" for one in first)
    measure = f"decisions={whole},answers=1,draws=3"
    rows, _, _ = exported(copy, tmp_path / "at once", measure, budget_calls=10_000, **options)
    cost = brain.requests - before
    with pytest.raises(UserError, match=r"there is no pair to write .*not measured yet") as stopped:
        exported(runs, tmp_path / "pairs", measure, budget_calls=6, **options)
    assert "continue with: quorum export" in stopped.value.hint
    assert f"--out {tmp_path / 'pairs'}" in stopped.value.hint
    assert brain.requests - before - cost <= 6 + 2  # answers in flight
    again, _, _ = exported(runs, tmp_path / "pairs", measure, budget_calls=10_000, **options)
    assert again == rows
    assert brain.requests - before == 2 * cost


@pytest.mark.conformance
def test_fresh_draws_are_added_to_what_was_measured(tmp_path: Path) -> None:
    run_cell(Cell.compose([*SAMPLED, "max_steps=70"]), tmp_path / "runs")
    design = "decisions=3,answers=3,draws=6"
    first, _, _ = exported(tmp_path / "runs", tmp_path / "pairs", design)
    played = {path: (path / "meta.json").stat().st_mtime_ns for path in branches_of(tmp_path / "runs")}
    second, card, _ = exported(tmp_path / "runs", tmp_path / "pairs", f"{design},fresh=4")
    assert [{key: row[key] for key in first[0]} for row in second] == first
    assert all(row["fresh_draws"] == 4 for row in second)
    now = {path: (path / "meta.json").stat().st_mtime_ns for path in branches_of(tmp_path / "runs")}
    assert now.items() >= played.items()
    assert {origin_of(path)["draw"] for path in now.keys() - played.keys()} == {7, 8, 9, 10}
    assert "fresh draws |" in card


@pytest.mark.conformance
def test_more_decisions_include_those_of_fewer(tmp_path: Path) -> None:
    run_cell(Cell.compose([*SAMPLED, "max_steps=70"]), tmp_path / "runs")
    prompts = []
    for number in (2, 4):
        exported(tmp_path / "runs", tmp_path / f"pairs{number}", f"decisions={number},answers=3,draws=4")
        prompts.append({(origin_of(path)["t"], origin_of(path)["t_hat"]) for path in branches_of(tmp_path / "runs")})
    assert prompts[0] < prompts[1]


@pytest.mark.conformance
def test_a_world_with_luck_draws_it_again_and_alike_for_all_answers(tmp_path: Path) -> None:
    words = ("env=crafter_coop", "n=2", "agents=naive", "max_steps=15", "seed=3", "llm.temperature=8", "llm.poor=0.5")
    run_cell(Cell.compose(words), tmp_path / "runs")
    options = {"measure": "decisions=1,answers=2,draws=2,outcome=outcome.return"}
    try:
        export(tmp_path / "runs", "preferences", tmp_path / "pairs", calls=False, force=True, options=options)
    except UserError as error:
        assert "ties, left out" in error.message  # noqa: PT017 (the luck is the same, whatever the pairs)
    lucks: defaultdict[int, set[int]] = defaultdict(set)
    branches = branches_of(tmp_path / "runs")
    for branch in branches:
        (luck,) = read_trace(branch).stamped(WorldLuck)
        assert isinstance(luck.event, WorldLuck)
        lucks[origin_of(branch)["draw"]].add(luck.event.seed)
    assert len(branches) > 2
    assert [len(seeds) for seeds in lucks.values()] == [1, 1]
    assert lucks[1] != lucks[2]


def test_a_split_keeps_boards_for_evaluation(simulated: tuple[Path, list[Row], str], tmp_path: Path) -> None:
    runs, rows, _ = simulated
    split = next(
        Split(share) for share in np.arange(0.01, 1, 0.01) if {Split(share).evaluates(b) for b in (0, 2)} > {True}
    )
    measure = "decisions=2,answers=2,draws=6,fresh=3"
    train, card, _ = exported(runs, tmp_path / "pairs", measure, split=split)
    held = [json.loads(line) for line in (tmp_path / "pairs" / "eval.jsonl").read_text().splitlines()]
    assert [row for row in rows if not split.evaluates(row["board"])] == train
    assert [row for row in rows if split.evaluates(row["board"])] == held
    assert "path: eval.jsonl" in card


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("agents=heuristic",), "no answer of a language model committed a plan or sent a message"),
        (("agents=naive", "llm.temperature=0"), "at this temperature its model repeats its answers"),
    ],
)
def test_runs_without_other_answers_are_refused(words: Sequence[str], message: str, tmp_path: Path) -> None:
    run = run_cell(Cell.compose(["n=2", "max_steps=10", "topology=individual", *words]), tmp_path / "runs").folder
    with pytest.raises(UserError) as refused:
        exported(tmp_path / "runs", tmp_path / "pairs", "")
    assert f"{run.name} is left out: {message}" in refused.value.hint
    assert sorted(tmp_path.iterdir()) == [tmp_path / "runs"]


def test_a_branch_with_another_prompt_is_refused(tmp_path: Path) -> None:
    run = run_cell(Cell.compose([*SAMPLED, "max_steps=20"]), tmp_path / "a").folder
    other = run_cell(Cell.compose([*SAMPLED, "max_steps=20", "seed=7"]), tmp_path / "b").folder
    decision = decisions_of(open_episode(run))[0]
    assert decision.again(run) == decision.call
    with pytest.raises(UserError, match="got another prompt at 0:0 than in the recorded run"):
        decision.again(other)


def test_only_the_first_request_of_a_thought_with_an_effect_is_a_decision(tmp_path: Path) -> None:
    words = ("agents=naive", "topology=debate", "n=2", "max_steps=30", "llm=simulated_faults", "llm.invalid=0.3")
    run = run_cell(Cell.compose([*words, "llm.malformed=0.2"]), tmp_path).folder
    episode, calls = open_episode(run), calls_of(run)
    found = decisions_of(episode)
    names = episode.trace.start.agents
    starts = {(names[one.agent], one.start.t, one.start.t_hat): one for one in episode.story.thoughts}
    assert found
    for decision in found:
        thought = starts[decision.agent, decision.instant.t, decision.instant.t_hat]
        assert thought.took_effect
        assert calls[decision.line] == decision.call
        assert [call for call in calls if call["agent"] == decision.agent][decision.place] == decision.call
        assert decision.call["reply"]["usage"]["completion"] == thought.calls[0]["completion_tokens"]
        assert json.loads(decision.call["reply"]["text"])
    assert len(found) < len(episode.story.thoughts)


def test_a_margin_is_the_mean_difference_with_a_paired_interval() -> None:
    found = margin([3.0, 1.0, 2.0, 4.0, 0.0, 2.0, 5.0, 1.0], "outcome.steps_or_limit", "fresh_")
    assert (found["fresh_margin"], found["fresh_draws"]) == (2.25, 8)
    low, high = found["fresh_low"], found["fresh_high"]
    assert low is not None
    assert high is not None
    assert 0 < low < 2.25 < high <= 5
    assert margin([3.0, 1.0], "outcome.steps") == {"margin": 2.0, "low": None, "high": None, "draws": 2}


@pytest.mark.parametrize(
    "text", ["answers", "answers=", "answers=x", "answers=-1", "draws=2,draws=3", "best=3", "answers=0", "decisions=0",
             "answers=4,draws=3", "outcome=nothing", "outcome=decision.number", "draws=9999999"]
)  # fmt: skip
def test_a_design_that_cannot_be_measured_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="--measure"):
        Design.of(text)


def test_a_design_keeps_its_defaults() -> None:
    assert Design.of("") == Design()
    found = Design.of("draws=12,outcome=success")
    assert (found.draws, found.answers, found.outcome, found.sign) == (12, 3, "outcome.success", 1)
    assert Design.of(str(found)) == found
    assert Design().sign == -1
