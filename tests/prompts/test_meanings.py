"""One meaning a word: in no prompt does a word have two values for one thing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import orjson
import pytest

from quorum.agents.llm.recording import unfolded
from quorum.configuration.cell import Cell
from quorum.episode.runner import run_cell
from tests.prompts.meanings import blocks_of, clashes, facts_of

LED = "topology=centralized topology.leader=coordinator"
FEEDBACK = "agents=naive topology.feedback=constraints"
WORLDS = {
    "cube": "env=cube n=4",
    "cube_coop2": "env=cube_coop2 n=6",
    "crafter": "env=crafter_coop n=4 env.level=medium",
    "transport": "env=transport n=8",
    "transport_hard": "env=transport_hard n=4",
    "squeeze": "env=squeeze n=4",
    "foraging": "env=foraging n=4 env.sight=3",
    "overcooked": "env=overcooked env.layout=coordination_ring",
}
TEAMS = {
    "leader": f"{FEEDBACK} topology=centralized",
    "coordinator": f"{FEEDBACK} {LED}",
    "hybrid": f"{FEEDBACK} topology=hybrid",
    "repair": f"{FEEDBACK} topology=centralized extension=repair",
    "terse": f"{FEEDBACK} topology=centralized prompts=terse",
    "tree": "agents=naive topology=hierarchy",
    "dytopo": "agents=naive topology=dytopo",
    "debate": "agents=naive topology=debate",
    "drwell": "agents=drwell topology=negotiation",
    "tom": "agents=tom topology=debate",
    "llamac": f"agents=llamac {LED} topology.rounds=3",
    "hmas2": f"agents=hmas2 {LED} topology.rounds=1",
    "debaters": f"agents=debaters {LED} topology.rounds=0",
    "dmas": "agents=dmas topology=dialogue topology.opens=team",
}
LACKING = {
    "repair": {"transport", "transport_hard", "squeeze", "foraging", "overcooked"},
    "drwell": {"crafter", "transport", "transport_hard", "squeeze", "foraging", "overcooked"},
    "tom": {"squeeze"},
}
"""Worlds in which a team cannot play."""
SOME = (
    ("cube_coop2", "leader"),
    ("crafter", "coordinator"),
    ("transport_hard", "hybrid"),
    ("squeeze", "leader"),
    ("foraging", "leader"),
    ("overcooked", "leader"),
)


def prompts(world: str, team: str, folder: Path, *, steps: int) -> Iterator[Mapping[str, str]]:
    """The blocks of all prompts of an episode."""
    cell = Cell.compose([*WORLDS[world].split(), *TEAMS[team].split(), "llm=simulated", f"max_steps={steps}"])
    run = run_cell(cell, folder)
    for call in unfolded((run.folder / "calls.jsonl").read_bytes().splitlines(keepends=True)):
        yield blocks_of(call["request"])


@pytest.mark.parametrize(("world", "team"), SOME)
def test_no_word_has_two_values_for_one_thing(world: str, team: str, tmp_path: Path) -> None:
    read = [prompt for prompt in prompts(world, team, tmp_path, steps=5) if "constraints" in prompt]
    assert read
    assert [found for prompt in read for found in clashes(prompt)] == []


@pytest.mark.conformance
def test_no_word_has_two_values_in_any_prompt_of_any_world(tmp_path: Path) -> None:
    read: Counter[str] = Counter()
    for world in WORLDS:
        for team in TEAMS:
            if world in LACKING.get(team, ()):
                continue
            for prompt in prompts(world, team, tmp_path / world / team, steps=25):
                read[team] += 1
                assert clashes(prompt) == [], f"{team} in {world}"
    assert set(read) == set(TEAMS)
    assert read.total() >= 2000, read


def shown(**blocks: object) -> dict[str, str]:
    """The blocks of a prompt to agent_0."""
    return {name: orjson.dumps(value).decode() for name, value in {"turn": {"you": "agent_0"}, **blocks}.items()}


PUSH = {"task": {"kind": "push", "target": "block_3/left"}, "needs": 2, "in_place": ["agent_1"]}


@pytest.mark.parametrize(
    ("blocks", "found"),
    [
        ({"observation": {"needs": {"3": 5}}, "constraints": [PUSH]}, ["needs of 3: ['2', '5']"]),
        ({"observation": {"needs_to_goal": {"3": 5}}, "constraints": [PUSH]}, []),
        ({"constraints": [PUSH], "a_new_block": [{**PUSH, "needs": 4}]}, ["needs of 3: ['2', '4']"]),
        ({"constraints": [PUSH], "a_new_block": {"blocks": {"block_3": {"needs": 4}}}}, ["needs of 3: ['2', '4']"]),
        ({"constraints": [PUSH], "memory": [{**PUSH, "needs": 4}]}, []),
        ({"observation": {"there": {"left": {"3": 1}}, "you": {"ways": {"left": {"3": 7}}}}}, []),
        ({"observation": {"agents": [[1, 4, 4]]}, "state": {"agents": {"agent_1": [5, 5]}}},
         ["agents of agent_1: ['[4,4]', '[5,5]']"]),
        ({"observation": {"you": {"inventory": {"wood": 1}}}, "state": {"agent_0": {"inventory": {"wood": 2}}}},
         ["inventory of agent_0/wood: ['1', '2']"]),
    ],
)  # fmt: skip
def test_two_values_are_found_wherever_they_stand(blocks: dict[str, object], found: list[str]) -> None:
    assert clashes(shown(**blocks)) == found


def test_every_value_of_a_thing_is_read() -> None:
    read = facts_of(shown(constraints=[PUSH], observation={"ahead": {"3": [1]}, "step": 4}))
    assert read == [(("3",), "needs", "2"), (("3",), "in_place", '["agent_1"]'), (("3",), "ahead", "[1]")]
