"""What each role is shown, and how the simulated model plays it."""

from __future__ import annotations

import asyncio
import dataclasses
from collections import Counter

import orjson
import pytest

from crafter_env import VIEW
from quorum.agents.llamac import build
from quorum.agents.llm.protocol import Finish, Request
from quorum.agents.llm.structured import Structuring
from quorum.agents.prompting.blocks import read_blocks
from quorum.agents.simulated.model import SimulatedModel
from quorum.agents.skills.cube.gates import CubeGates
from tests.agents.llamac.teams import config, coordinated
from tests.agents.naive_team import context, cube, settings
from tests.crafter_env.joined import world
from tests.maeil.scripted import play


class Heard:
    """The simulated model, and all that it was asked and answered."""

    def __init__(self, **rates: float) -> None:
        self.model = SimulatedModel(settings(**rates))
        self.requests: list[Request] = []
        self.replies = []

    async def complete(self, request: Request):
        self.requests.append(request)
        reply = await self.model.complete(request)
        self.replies.append(reply)
        return reply

    def of(self, role: str) -> list[Request]:
        return [request for request in self.requests if f"# Your role: {role}" in request.messages[1].content]


class Hasty(Heard):
    """One whose exploiter leaves out the ways: plans begin with a meeting, which only those at the face can hold."""

    async def complete(self, request: Request):
        reply = await super().complete(request)
        if request not in self.of("exploiter"):
            return reply
        value = orjson.loads(reply.text)
        for entry in value["plans"]:
            actions = entry["plan"]["actions"]
            entry["plan"]["actions"] = [action for action in actions if action["action"] != "move_to_block"] or actions
        return dataclasses.replace(reply, text=orjson.dumps(value).decode())


def heard(w=None, repairs: int = 2, switches=None, kind: type[Heard] = Heard, **rates: float) -> Heard:
    """Play an episode and give what was said to the model."""
    w = w or cube(4, max_steps=40)
    model = kind(**rates)
    asked = Structuring(model, repairs)
    topology = coordinated(len(w.agents))
    minds = build(config(**(switches or {})), context(w, topology, lambda _: asked))
    play(minds[:-1], w, topology=topology, coordinators=[("coordinator", minds[-1])], seed=1)
    return model


@pytest.fixture(scope="module")
def quiet() -> Heard:
    """Without scrutiny, so that actors have something to object to."""
    return heard(kind=Hasty, poor=0.6, switches={"scrutiny": False, "scrutinize_suggestion": False})


@pytest.mark.parametrize("role", ["explorer", "exploiter", "assessor", "actor"])
def test_every_role_is_told_its_part_the_rules_the_actions_and_how_to_answer(quiet, role):
    system, user = (message.content for message in quiet.of(role)[0].messages)
    assert f"# Your role: {role}" in user
    assert "until it touches the last column" in system
    assert "move_to_block" in system
    assert "one JSON object" in system


def test_critics_see_state_memory_and_commitments_and_the_assessor_both_proposals(quiet):
    blocks = [read_blocks(request.messages[1].content) for request in quiet.of("explorer")]
    assert all({"turn", "asked", "state"} <= set(found) for found in blocks)
    assert "memory" not in blocks[0]
    assert "memory" in blocks[-1]
    assert any("commitments" in found for found in blocks)
    first = read_blocks(quiet.of("assessor")[0].messages[1].content)
    assert {"explorer", "exploiter"} <= set(first)
    assert set(orjson.loads(first["explorer"])) == {"thoughts", "plans"}


@pytest.mark.parametrize("role", ["explorer", "exploiter", "assessor"])
def test_who_makes_joint_plans_is_told_the_rules_of_the_gates_in_words(role):
    prompt = "".join(message.content for message in heard().of(role)[0].messages)
    given = {code for code, rule in CubeGates().rules.items() if f"{code}: {rule.meaning}." in prompt}
    assert given == set(CubeGates().rules)
    assert "V-SIM" not in given, "which is in force with a rollout alone"


def test_an_actor_sees_its_own_observation_its_suggestion_and_the_failed_check(quiet):
    blocks = read_blocks(quiet.of("actor")[0].messages[1].content)
    assert set(blocks) <= {"turn", "observation", "suggestion", "partners", "failed_check"}
    assert orjson.loads(blocks["observation"])["you"]["name"] == orjson.loads(blocks["turn"])["you"]
    assert orjson.loads(blocks["failed_check"])["code"].startswith("C-")


def test_in_the_open_world_the_critics_see_what_the_agents_see_and_no_more():
    w = world(None, n=3, profile="coop2", level="coop2", switches={}, max_steps=3)
    model = heard(w)
    state = orjson.loads(read_blocks(model.of("explorer")[0].messages[1].content)["state"])
    assert list(state["agents"]) == list(w.agents)
    width, height = VIEW
    assert 0 < sum(cell != "?" for row in state["map"]["rows"] for cell in row) <= 3 * width * height


def test_the_rates_of_faults_hold_for_the_roles():
    finishes = Counter(reply.finish for reply in heard(refusal=0.3, repairs=5).replies)
    assert finishes[Finish.REFUSAL] > 0
    broken = [reply for reply in heard(malformed=0.3, repairs=5).replies if not _is_json(reply.text)]
    assert broken
    unknown = [reply for reply in heard(invalid=0.9, repairs=5).replies if "1000000" in reply.text]
    assert unknown


def test_an_answer_depends_on_the_prompt_and_the_seed_alone(quiet):
    for request in quiet.requests[:8]:
        again = asyncio.run(SimulatedModel(settings(poor=0.6)).complete(request))
        assert again.text == quiet.replies[quiet.requests.index(request)].text


def _is_json(text: str) -> bool:
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    return True
