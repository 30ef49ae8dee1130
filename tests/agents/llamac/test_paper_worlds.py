"""LLaMAC in its own two worlds: whole teams over the simulated model, and decisions over models as scripted."""

from __future__ import annotations

import itertools
from typing import Any

import orjson
import pytest

from llamac_env import load_instances
from llamac_env import settings as frozen
from maeil.metrics import compute_metrics
from maeil.trace.reader import Trace
from quorum.agents.llamac import build
from quorum.agents.llamac.settings import Answers
from quorum.agents.llm.protocol import Reply, Request
from quorum.agents.prompting.blocks import read_blocks
from tests.agents.llamac.stage import NOT_JSON, Cast, calls_of, choose, codes_of, joint, take
from tests.agents.llamac.teams import config, coordinated, episode
from tests.agents.llamac.test_roles import heard
from tests.agents.naive_team import context
from tests.llamac_env.boards import board
from tests.llamac_env.test_squeeze import world as squeeze
from tests.llamac_env.test_transport_world import world as transport

FAULTS = {"malformed": 0.05, "invalid": 0.1, "poor": 0.2, "refusal": 0.01, "prose": 0.2}
KINDS = [("easy", 4), ("easy", 8), ("hard", 4), ("hard", 8)]


def metrics_of(events):
    return compute_metrics(Trace(tuple(events)))


# Whole teams.


@pytest.mark.parametrize("grid", frozen()[:2] + frozen()[3:5], ids=str)
def test_a_team_places_every_box_in_three_calls_a_decision(grid):
    w = transport(difficulty=str(grid.difficulty), n=grid.agents, boards="frozen")
    for instance in load_instances(grid)[:3]:
        events = episode(w, instance.seed)
        metrics = metrics_of(events)
        assert metrics["outcome.success"] is True
        assert instance.optimum <= metrics["outcome.steps"] <= 3 * instance.optimum
        assert metrics["gates.rejections"] == metrics["gates.actor_calls"] == 0
        assert metrics["model.calls"] <= 3 * metrics["outcome.steps"]


@pytest.mark.parametrize("critics", ["explorer", "exploiter"])
@pytest.mark.parametrize(("difficulty", "n"), KINDS)
def test_either_critic_alone_finishes_and_proposes_no_conflict(difficulty, n, critics):
    w = transport(difficulty=difficulty, n=n)
    events = episode(w, 4, switches={"critics": critics})
    assert events[-1].event.outcome == "success"
    assert set(codes_of(events)) <= {"C-PROG"}, "detours, which are made once external feedback is used up"


@pytest.mark.parametrize(("difficulty", "n"), KINDS)
def test_a_team_with_faults_plays_transport_to_the_end_and_its_gates_catch_them(difficulty, n):
    w = transport(difficulty=difficulty, n=n)
    patient = {"internal_retries": 6}  # with 3, one episode in a hundred ends by unreadable answers in a row
    metrics = [metrics_of(episode(w, seed, switches=patient, **FAULTS)) for seed in range(3)]
    assert sum(found["gates.rejections"] for found in metrics) > 0
    assert all(found["outcome.success"] for found in metrics), "no box is lost to a collision"


@pytest.mark.parametrize("rule", ["final_state", "start_empty"])
def test_no_collision_comes_of_a_suggestion_that_was_repaired_or_changed(rule):
    w = transport(difficulty="hard", n=4, entry_rule=rule)
    for seed in range(10):
        events = episode(w, seed, poor=0.4, switches={"internal_retries": 1})
        whats = [o["what"] for e in events if e.event.kind == "step_outcome" for o in e.event.outcomes]
        assert not {"collision", "conflict"} & set(whats)


@pytest.mark.parametrize(
    "switches",
    [
        {"critics": "explorer"},
        {"critics": "exploiter"},
        {"belief_correction": False},
        {"scrutiny": False},
        {"scrutinize_suggestion": False},
        {"confirmation": False},
        {"internal_retries": 0},
        {"external_retries": 0},
        {"strict": True},
        {"on_exhaust": "noop"},
        {"replan": "all"},
        {"epochs": None},
        {"transitions": True},
    ],
    ids=str,
)
@pytest.mark.parametrize("difficulty", ["easy", "hard"])
def test_every_switch_runs_on_transport(difficulty, switches):
    w = transport(difficulty=difficulty, max_steps=12)
    events = episode(w, 2, poor=0.2, switches=switches)
    assert events[-1].event.outcome == "success"
    if not switches.get("strict"):
        assert events[-1].event.reason == ""


@pytest.mark.parametrize("n", [3, 10])
def test_a_team_ends_near_the_peak_of_the_squeeze(n):
    w = squeeze(n=n, max_steps=15)
    events = episode(w, 1)
    assert (events[-1].event.outcome, w.progress().score) == ("success", pytest.approx(1, abs=0.05))
    assert metrics_of(events)["model.calls"] == 3 * 15


def test_a_team_with_faults_plays_all_rounds_of_the_squeeze():
    w = squeeze(n=5, max_steps=10)
    events = episode(w, 1, **FAULTS)
    assert (events[-1].event.steps, events[-1].event.reason) == (10, "")
    assert w.progress().score > 0.3


def test_the_explorer_alone_tries_a_new_sum_in_every_round():
    w = squeeze(n=4, max_steps=12)
    episode(w, 1, switches={"critics": "explorer"})
    assert len(set(w.env.sums)) == 12


def test_the_best_case_takes_three_calls_a_decision_for_fifty_agents():
    w = squeeze(n=50, max_steps=3)
    events = episode(w, 1)
    assert [call["role"] for call in calls_of(events)] == ["explorer", "exploiter", "assessor"] * 3


@pytest.mark.parametrize("epochs", [0, 5, None])
def test_in_the_squeeze_the_critics_see_the_whole_history_and_nothing_twice(epochs):
    w = squeeze(n=3, max_steps=8)
    last = heard(w, switches={"epochs": epochs}).of("explorer")[-1].messages[1].content
    assert "<memory>" not in last
    state = orjson.loads(last.partition("<state>")[2].partition("</state>")[0])
    assert state["history"]["sum"] == list(w.env.sums[:7])


def test_an_actor_sees_its_own_cell_and_its_part_is_judged_by_the_whole_board():
    said = heard(transport(max_steps=6), poor=0.9)
    (asked, *_) = said.of("actor")
    blocks = read_blocks(asked.messages[1].content)
    assert not {"board", "boxes_left"} & set(orjson.loads(blocks["observation"]))
    assert orjson.loads(blocks["failed_check"])["code"] == "C-PROG", "which takes the nearest target of all"
    assert "board" in orjson.loads(read_blocks(said.of("explorer")[0].messages[1].content)["state"])


@pytest.mark.parametrize("given", [{}, {"hint": True, "picks": "all"}], ids=str)
def test_nothing_that_critics_are_told_differs_between_games_until_the_rewards_do(given):
    nothing = {"actions": [{"action": "pick", "units": 0}]}
    all_zero = joint(**{f"agent_{agent}": nothing for agent in range(3)})
    asked = []
    for changes in ({"rho": 0.3}, {"rho": 0.7}, {"mu": 26.0, "sigma": 1.0}, {"rho": None}):
        model = Verbatim(explorer=all_zero, exploiter=all_zero, assessor=take("exploiter", 3))
        decide(model, squeeze(n=3, max_steps=3, **given, **changes))
        asked.append(model.prompts)
    assert len(asked[0]) == 9
    assert all(prompts == asked[0] for prompts in asked)


@pytest.mark.parametrize("w", [transport(), squeeze()], ids=["transport", "squeeze"])
def test_joint_plans_are_rolled_out_where_the_gates_can_alone(w):
    with pytest.raises(ValueError, match=rf"cannot be rolled out in the world '{w.name}': set agents\.rollout=0"):
        build(config(rollout=3), context(w, coordinated(len(w.agents), rounds=3)))


# Scripted models.

EASY = {"box_red": "0.5_0.5", "target_red": "0.5_0.5"}
HARD = {"box_red": "1.0_1.0", "target_red": "0.5_0.5"}


def pinned(items: dict[str, str], **changes: Any):
    """A world that begins with a board written by hand, whatever the seed."""
    w = transport(items, **changes)
    reset = w.reset

    def begin(seed: int):
        given = reset(seed)
        w.env.reset(options={"board": board(w.env.grid, **items)})
        return given

    w.reset = begin
    return w


def easy():
    return pinned(EASY, max_steps=1)


def hard():
    return pinned(HARD, difficulty="hard", max_steps=1)


def move(box: str, to: str) -> dict[str, Any]:
    """A plan of one move as a model writes it."""
    task = {"kind": "place", "target": f"box_{box}"}
    return {"task": task, "actions": [{"action": "move", "box": f"box_{box}", "to": to}]}


PLACE = move("red", "target_red")
AWAY = move("red", "square[0.5, 1.5]")
CLASH = joint(agent_0=PLACE, agent_1=move("red", "position[0.0, 1.0]"))
FEEDBACK = {"thoughts": "so", "issue": "it is there already", "proposal": PLACE}


def cast(**changes: Any) -> Cast:
    one = joint(agent_0=PLACE)
    return Cast(**{"explorer": one, "exploiter": one, "assessor": take("exploiter", 1), "actor": FEEDBACK, **changes})


class Verbatim(Cast):
    """A cast that keeps every word of the prompts."""

    def __init__(self, **answers: Any) -> None:
        super().__init__(**answers)
        self.prompts: list[list[str]] = []

    async def complete(self, request: Request) -> Reply:
        self.prompts.append([message.content for message in request.messages])
        return await super().complete(request)


def decide(model: Cast, w=None, **switches: Any):
    return episode(w or easy(), model=model, repairs=0, switches=switches)


def test_a_decision_that_passes_at_first_takes_three_calls():
    model = cast()
    events = decide(model)
    assert (model.total, events[-1].event.outcome) == (3, "success")


@pytest.mark.parametrize("critic", ["explorer", "exploiter"])
def test_one_critic_with_bad_json_once_takes_five_calls(critic):
    model = cast(**{critic: [NOT_JSON, joint(agent_0=PLACE)]})
    events = decide(model)
    assert (model.total, codes_of(events), events[-1].event.outcome) == (5, ["V-FORM"], "success")


def test_one_accepted_objection_takes_five_calls():
    model = cast(exploiter=joint(agent_0=AWAY), assessor=[take("exploiter", 1), choose("explorer", "agent_0")])
    events = decide(model)
    assert model.calls == {"explorer": 1, "exploiter": 1, "assessor": 2, "actor": 1}
    assert (codes_of(events), events[-1].event.outcome) == (["C-PROG"], "success")


def test_a_move_that_brings_nothing_nearer_is_made_when_external_feedback_is_used_up():
    model = cast(exploiter=joint(agent_0=AWAY))
    w = easy()
    events = decide(model, w)
    assert (model.total, codes_of(events)) == (3 + 2 * 3, ["C-PROG"] * 3)
    assert w.env.board.boxes[0].place == (1, 3)


@pytest.mark.parametrize("strict", [False, True])
def test_conflicts_left_after_all_internal_retries_are_repaired_or_fail_the_episode(strict):
    model = cast(explorer=CLASH, exploiter=CLASH, assessor=choose("exploiter", "agent_1"))
    events = decide(model, hard(), internal_retries=2, external_retries=0, strict=strict)
    end = events[-1].event
    if strict:
        assert model.total == 6
        assert end.reason.startswith("ScrutinyFailed: no joint plan after 2 retries: V-BOX")
    else:
        assert codes_of(events) == ["V-BOX"] * 6
        assert (model.calls["explorer"], model.calls["exploiter"], end.reason) == (3, 3, "")
        assert [call["repaired"] for call in calls_of(events) if "repaired" in call] == [[0, 0]]


def steps(*actions: Any) -> dict[str, Any]:
    """A plan of several steps: a move as (box, place), or a wait."""
    moves = [
        {"action": "move", "box": f"box_{a[0]}", "to": a[1]} if a else {"action": "wait", "steps": 1} for a in actions
    ]
    return {"task": {"kind": "place", "target": "box_purple"}, "actions": moves}


def test_a_plan_under_way_that_comes_to_conflict_is_asked_about_again():
    """The board that was lost (4x8, frozen, seed 1): agent 2 first moves purple to a corner, and then blue after it."""
    items = {"box_purple": "0.0_3.0", "box_blue": "1.0_4.0", "target_purple": "0.5_0.5", "target_blue": "0.5_1.5"}
    top, near = "position[0.0, 2.0]", "position[1.0, 3.0]"
    first = joint(agent_2=steps((), ("purple", top), ("blue", top)), agent_3=steps(()))
    second = joint(agent_3=steps(("blue", near)))
    fixed = joint(agent_2=steps(("purple", top)), agent_3=steps(("blue", near)))
    both = choose("exploiter", "agent_2", "agent_3")
    critic = [first, second, fixed, joint()]
    model = Cast(explorer=critic, exploiter=critic, assessor=[both, both, choose("exploiter")])
    w = pinned(items, n=8, difficulty="hard", max_steps=3)
    end = episode(w, model=model, repairs=0, switches={"confirmation": False})[-1].event
    assert (end.outcome, end.steps) == ("truncated", 3)
    given = {str(box.colour): box.place for box in w.env.board.boxes}
    assert len(set(given.values())) == 2, f"two boxes on one corner: {given}"
    again = model.asked("explorer")[2]
    assert [(found["code"], found["agents"]) for found in again["feedback"]][:1] == [("V-CORNER", ["agent_2"])]
    assert "agent_2" in again["asked"]
    assert "agent_2" not in model.asked("explorer")[1]["asked"]


def test_a_missing_pick_fails_the_episode_after_all_internal_retries():
    pick = {"actions": [{"action": "pick", "units": 4}]}
    two = joint(agent_0=pick, agent_1=pick)
    model = cast(explorer=two, exploiter=two)
    events = decide(model, squeeze(n=3, max_steps=2), internal_retries=1)
    assert model.total == 4
    assert events[-1].event.reason.startswith("ScrutinyFailed: no joint plan after 1 retries: V-TEAM")


# Answers as models write them.


def entries(*pairs: tuple[str, Any]) -> str:
    plans = [{"agent": agent, "plan": plan} for agent, plan in pairs]
    return orjson.dumps({"thoughts": "so", "plans": plans}).decode()


GOOD = entries(("agent_0", PLACE))


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"```json\n{GOOD}\n```",
        f"I think:\n```\n{GOOD}\n```\nThat helps.",
        f"So: {GOOD} is best.",
        entries(("agent_0", AWAY)),
        entries(("agent_0", move("red", "square(0.5, 1.5)"))),
        entries(("agent_0", move("red", "square( 0.5 ,1.5 )"))),
    ],
)
def test_both_bracket_styles_fences_and_words_around_are_read(text):
    model = cast(explorer=text)
    assert codes_of(decide(model)) == []
    assert model.total == 3


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("nothing", "V-FORM"),
        (entries(("agent_0", PLACE), ("agent_0", AWAY)), "V-DUPLICATE"),
        (entries(("agent_0", PLACE), ("agent_0", PLACE)), "V-DUPLICATE"),
        (entries(("agent_9", PLACE)), "V-STRANGER"),
        (entries(("Agent[0.5, 0.5]", PLACE)), "V-STRANGER"),
        (entries(("agent_0", move("pink", "target_red"))), "V-FORM"),
        (entries(("agent_0", move("red", "target_pink"))), "V-WORLD"),
        (entries(("agent_0", move("red", "the other cell"))), "V-FORM"),
        (entries(("agent_0", move("red", "square[0.5, 1.5)"))), "V-WORLD"),
        (entries(("agent_0", move("red", "square[9.5, 0.5]"))), "V-WORLD"),
        (entries(("agent_0", move("red", "position[1.0, 1.0]"))), "V-WORLD"),
        (entries(("agent_3", PLACE)), "V-WORLD"),
        (orjson.dumps({"Agent[0.5, 0.5]": "move(box_red, target_red)"}).decode(), "V-FORM"),
    ],
)
def test_what_cannot_be_read_or_done_is_refused_with_a_code(text, code):
    model = cast(explorer=[text, GOOD])
    assert set(codes_of(decide(model))) == {code}
    assert model.calls == {"explorer": 2, "exploiter": 2, "assessor": 1}


@pytest.mark.parametrize("units", [10, -1, 4.5, "4", None, True])
def test_what_is_no_pick_is_refused(units):
    pick = {"actions": [{"action": "pick", "units": units}]}
    good = joint(agent_0={**pick, "actions": [{"action": "pick", "units": 4}]})
    model = cast(explorer=[joint(agent_0=pick), good], exploiter=good)
    assert set(codes_of(decide(model, squeeze(n=1, max_steps=1)))) == {"V-FORM"}


def test_the_order_of_the_entries_changes_nothing():
    w = pinned({**HARD, "box_blue": "0.0_2.0", "target_blue": "1.5_1.5"}, difficulty="hard", max_steps=1)
    plans = [
        ("agent_0", PLACE),
        ("agent_1", move("blue", "position[1.0, 2.0]")),
        ("agent_3", move("red", "position[2.0, 2.0]")),
    ]
    answers = Answers(w.vocabulary, 8, w.agents)
    found, played = [], []
    for order in itertools.permutations(plans):
        _, read = answers.read_joint(orjson.loads(entries(*order)), range(4))
        found.append(read)
        chosen = [name for name, _ in order if name != "agent_0"]
        model = cast(explorer=entries(*order), exploiter=entries(*order), assessor=choose("explorer", *chosen))
        events = decide(model, w, internal_retries=0)
        played.append([(e.event.agent, e.event.actions) for e in events if e.event.kind == "plan"])
        assert [call["repaired"] for call in calls_of(events) if "repaired" in call] == [[0, 0]]
    assert all(read == found[0] for read in found)
    assert all(plan == played[0] for plan in played)
