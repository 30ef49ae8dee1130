"""`prompts=paper`: LLaMAC and its baselines read and write the text format of the paper's appendix."""

from __future__ import annotations

import json

import orjson
import pytest

from llamac_env import read_shown
from maeil.errors import InvalidThought
from maeil.metrics import compute_metrics
from maeil.trace.reader import Trace
from quorum.agents.coordination.joint import Sight, named
from quorum.agents.llamac.settings import LlamacRole
from quorum.agents.prompting.blocks import read_blocks
from quorum.agents.simulated.model import SimulatedModel
from quorum.configuration.cell import Cell
from quorum.llamac_worlds.transport.moves import TransportBriefing, one_step
from quorum.llamac_worlds.transport.paper_text import PaperText
from quorum.methods.baselines.asking import BaselineRole
from quorum_base.user_errors import UserError
from tests.agents.llamac.teams import episode as triplet
from tests.agents.naive_team import prompts, settings
from tests.llamac_env.test_transport_world import world
from tests.methods.baselines.stage import BASELINES, end_of
from tests.methods.baselines.stage import episode as baseline

PAPER = prompts("paper")
FAULTS = {"malformed": 0.3, "invalid": 0.2, "poor": 0.2, "refusal": 0.02, "prose": 0.3}
COORDINATED = "topology=centralized topology.leader=coordinator topology.rounds=3"


class Heard(SimulatedModel):
    """A simulated model that keeps what it was asked and what it answered."""

    def __init__(self, **rates):
        super().__init__(settings(**rates))
        self.said = []

    async def complete(self, request):
        reply = await super().complete(request)
        self.said.append((request, reply.text))
        return reply


def play(team, w, model, **changes):
    if team == "llamac":
        return triplet(w, 2, model=model, repairs=0, switches=changes)
    return baseline(team, w, lambda _: model, seed=2, **changes)


@pytest.mark.parametrize("difficulty", ["easy", "hard"])
@pytest.mark.parametrize("team", ["llamac", *BASELINES])
def test_a_team_plays_in_text_what_it_plays_in_typed_json(team, difficulty):
    played = []
    for changes in ({"prompts": PAPER}, {}):
        w = world(difficulty=difficulty, n=4, view="board")
        events = play(team, w, Heard(), max_actions=1, **changes)
        assert end_of(events).outcome == "success"
        played.append([(e.t, e.event.agent, e.event.actions) for e in events if e.event.kind == "plan"])
    assert played[0] == played[1]


@pytest.mark.parametrize("team", ["llamac", *BASELINES])
def test_a_team_with_faults_plays_to_the_end_and_what_cannot_be_read_is_counted(team):
    model = Heard(**FAULTS)
    events = play(team, world(n=4, max_steps=12), model, prompts=PAPER)
    assert end_of(events).outcome in ("success", "truncated", "failure")
    metrics = compute_metrics(Trace(tuple(events)))
    assert metrics["model.parse_failures"] > 0
    assert metrics["model.answers"] == len(model.said)
    assert metrics["model.repairs"] == 0, "what is wrong goes back by the team's own rules"


def test_prompts_and_answers_are_those_of_the_papers_figure():
    model = Heard()
    play("llamac", world(n=4), model, prompts=PAPER)
    asked, answer = next((request, text) for request, text in model.said)
    assert asked.answer is None, "no schema is sent"
    state = orjson.loads(read_blocks(asked.messages[1].content)["state"])
    assert state["observations"][0].startswith("Agent[0.5, 0.5]: I am in square[0.5, 0.5], I can observe [")
    assert list(state["board"]) == ["0.5_0.5", "0.5_1.5", "1.5_0.5", "1.5_1.5"], "empty places, too"
    assert '"action"' not in asked.messages[0].content + asked.messages[1].content
    words, _, joint = answer.partition("\n")
    assert words
    assert all(key.startswith("Agent[") and move.startswith("move(box_") for key, move in json.loads(joint).items())


@pytest.mark.parametrize("difficulty", ["easy", "hard"])
def test_values_read_back_as_they_were_written(difficulty):
    for seed in range(5):
        w = world(difficulty=difficulty, n=8, seed=seed)
        grid, names = w.env.grid, w.agents
        state = TransportBriefing().state(Sight(0, w.global_observation(), tuple(map(w.observe, range(8)))))
        text = PaperText(w.global_observation)
        moves = {agent: w.env.board.available(agent) for agent in range(8)}
        plans = named({agent: one_step(grid, agent, found[-1], "") for agent, found in moves.items() if found}, names)
        given = {"plans": plans, "asked": list(names), "turn": {"you": "agent_3", "step": 0}, "thoughts": "agent_3"}
        assert text.read(orjson.loads(orjson.dumps(text.write(given)))) == orjson.loads(orjson.dumps(given))
        again = text.read(orjson.loads(orjson.dumps(text.write(state))))
        assert read_shown(again).to_board() == w.env.board
        assert again == orjson.loads(orjson.dumps({k: v for k, v in state.shown().items() if k != "can_do"}))
        for agent in range(8):
            own = text.read(orjson.loads(orjson.dumps(text.write(w.observe(agent)))))
            assert read_shown(own).can_do == w.observe(agent).can_do


GREEN = {"box_green": "0.5_0.5 0.5_1.5", "target_green": "0.5_0.5 1.5_1.5"}


def paper_text():
    w = world(GREEN)
    return PaperText(w.global_observation)


@pytest.mark.parametrize("role", [*LlamacRole, *BaselineRole])
def test_the_example_of_a_role_is_an_answer_of_it(role):
    text = paper_text()
    example = text.example(role)
    assert "Agent" not in example.replace("Agent[0.5, 60.5]", "")
    found = text.read_answer(role, example.replace("Agent[0.5, 60.5]", "Agent[0.5, 0.5]"))
    if role == BaselineRole.REVIEWER:
        assert found["agrees"]
        return
    plans = [entry["plan"] for key in ("plans", "choices") for entry in found.get(key) or ()]
    (action,) = [*plans, found.get("proposal")][0]["actions"]
    assert action == {"action": "move", "box": "box_green", "to": "target_green"}


JOINT = '{"Agent[0.5, 0.5]": "move(box_green, target_green)"}'
ROUND = JOINT.replace("[", "(").replace("]", ")")


@pytest.mark.parametrize(
    "answer",
    [
        JOINT,
        f"It can be placed.\n{JOINT}",
        f"So:\n```json\n{JOINT}\n```\nThat helps.",
        JOINT.replace("[", "(").replace("]", ")"),
    ],
)
def test_a_joint_plan_is_read_in_both_bracket_styles_with_words_and_fences_around_it(answer):
    found = paper_text().read_answer("centre", answer)
    assert [(entry["agent"], entry["plan"]["task"]["target"]) for entry in found["plans"]] == [("agent_0", "box_green")]
    assert "`" not in found["thoughts"]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("I wait.", "not_json"),
        ("[1]", "not_an_object"),
        ('{"Agent[9.5, 0.5]": "move(box_green, target_green)"}', "unknown_agent"),
        ('{"Agent[1.5, 0.5]": "move(box_green, target_green)"}', "box_not_here"),
        ('{"Agent[0.5, 0.5]": "move(box_green, target_red)"}', "other_colour"),
        ('{"Agent[0.5, 0.5]": "push"}', "not_an_action"),
    ],
)
@pytest.mark.parametrize("role", ["explorer", "assessor", "debater"])
def test_what_is_no_joint_plan_is_refused_with_its_code(role, answer, reason):
    with pytest.raises(InvalidThought, match=reason):
        paper_text().read_answer(role, answer)


def test_reviewers_talkers_and_actors_write_words_and_a_move_where_they_have_one():
    text = paper_text()
    for words in ("I agree.", "I Agree", " i agree, it is best"):
        assert text.read_answer("reviewer", words)["agrees"] is True
    objection = text.read_answer("reviewer", f"I would rather place it. {JOINT}")
    assert (objection["agrees"], objection["reason"]) == (False, "I would rather place it.")
    assert objection["proposal"]["task"]["target"] == "box_green"
    assert text.read_answer("talker", "I can place green.")["plans"] is None
    stated = text.read_answer("talker", f"We agree. EXECUTE {JOINT}")
    assert (stated["message"], len(stated["plans"])) == ("We agree.", 1)
    assert text.read_answer("actor", "It cannot be reached.")["proposal"] is None
    assert len(text.read_answer("actor", "x" * 5000)["issue"]) == 1000
    for role in ("actor", "talker"):
        with pytest.raises(InvalidThought, match="says nothing"):
            text.read_answer(role, " ")


@pytest.mark.parametrize("env", ["cube", "crafter", "squeeze"])
@pytest.mark.parametrize("team", [f"agents=llamac {COORDINATED}", "agents=dmas topology=dialogue"])
def test_it_is_refused_in_one_line_where_a_world_has_no_such_format(env, team):
    with pytest.raises(UserError, match=rf"'notation', .*'{env}' .*: transport\. Set prompts=default") as error:
        Cell.compose([f"env={env}", *team.split(), "prompts=paper"])
    assert "\n" not in str(error.value)


def test_agents_without_roles_do_not_take_it():
    with pytest.raises(UserError, match="agents=naive answers in typed JSON") as error:
        Cell.compose(["env=transport", "agents=naive", "prompts=paper"])
    assert "\n" not in str(error.value)
