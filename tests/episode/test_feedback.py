"""Under `feedback=constraints` the prompts of whole episodes hold the tasks as they are when the prompt is written."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson
import pytest

from maeil.mind import Act
from maeil.plans import Task
from maeil.trace import read_trace
from maeil.trace.events import MessageSent, StepTaken
from quorum.agents.llm.recording import unfolded
from quorum.agents.prompting.blocks import read_blocks
from quorum.configuration.cell import Cell
from quorum.configuration.registry import worlds
from quorum.episode.runner import run_cell
from quorum_base.names import fold_names

WORLDS = (
    "cube_coop2 n=3",
    "crafter_coop n=3 env.level=hard",
    "transport_hard n=4",
    "squeeze n=3",
    "foraging n=3",
    "overcooked",
)
TEAM = ("agents=naive", "llm=simulated", "topology=centralized", "seed=3", "max_steps=25")
OF_THE_STATE = ("needs", "more", "in_place", "able", "missing", "before")
"""What a task reports that plans do not change; of a craft they do."""


def prompts(folder: Path) -> list[tuple[dict, Mapping[str, str]]]:
    """The block `turn` of every call, and all its blocks as JSON, in order."""
    found = []
    for call in unfolded((folder / "calls.jsonl").read_bytes().splitlines(keepends=True)):
        user = next(message for message in call["request"]["messages"] if message["role"] == "user")
        blocks = read_blocks(user["content"])
        found.append((orjson.loads(blocks["turn"]), blocks))
    return found


def states(cell: Cell, folder: Path) -> list[dict[str, dict]]:
    """The open tasks at each step of an episode that is played again, as a prompt writes them."""
    values = cell.configuration.env
    world = worlds.get(values.name).build(values, None)
    world.reset(cell.seed)

    def now() -> dict[str, dict]:
        reported = {}
        for task in world.open_tasks([None] * len(world.agents)):
            names = {
                key: fold_names([world.agents[agent] for agent in agents])
                for key, agents in (("in_place", task.in_place), ("able", task.able))
                if agents is not None
            }
            rest = {"missing": dict(task.missing), "before": list(task.before)}
            reported[str(task.task)] = {
                "needs": task.needs, "more": task.more, **names, **{key: value for key, value in rest.items() if value}
            }  # fmt: skip
        return reported

    found = [now()]
    for stamped in read_trace(folder).events:
        if isinstance(stamped.event, StepTaken):
            world.step(stamped.event.joint)
            found.append(now())
    return found


@pytest.mark.parametrize("options", WORLDS)
def test_every_prompt_that_plans_holds_the_states_as_they_are(tmp_path: Path, options: str) -> None:
    world, *rest = options.split()
    cell = Cell.compose([f"env={world}", *rest, *TEAM, "topology.feedback=constraints"])
    folder = run_cell(cell, tmp_path).folder
    now = states(cell, folder)
    reported: Counter[str] = Counter()
    acknowledged = set()
    for turn, blocks in prompts(folder):
        moment, plans = (turn["you"], turn["step"]), Act.PLAN in turn["may"]
        if Act.ACKNOWLEDGE in turn["may"]:
            acknowledged.add(moment)
        if not plans and turn.get("role") == "follower":
            continue
        assert "constraints" in blocks, f"a turn without feedback: {turn}"
        reported["first step"] += plans and turn["step"] == 0
        reported["later"] += plans and turn["step"] > 0
        reported["leader's own plan"] += plans and turn.get("role") == "leader"
        reported["after an acknowledgement"] += plans and moment in acknowledged
        for task in orjson.loads(blocks["constraints"]):
            name = f"{task['task']['kind']}:{task['task']['target']}"
            if name in now[turn["step"]] and task["task"]["kind"] != "craft":
                if "before" in task:
                    task["before"] = [b if isinstance(b, str) else str(Task(**b)) for b in task["before"]]
                assert {key: task[key] for key in OF_THE_STATE if key in task} == now[turn["step"]][name]
                reported["states"] += 1
    assert (
        min(reported[what] for what in ("first step", "later", "leader's own plan", "after an acknowledgement")) > 0
    ), reported
    assert reported["states"] > len(now), reported


def directed(blocks: Mapping[str, str], turn: Mapping[str, Any]) -> str | None:
    """The block that the leader's directives of this step send the reader of a prompt to."""
    said = [*orjson.loads(blocks.get("memory", "[]")), *orjson.loads(blocks.get("unread", "[]"))]
    texts = " ".join(each["content"] for group in said if group["step"] == turn["step"] for each in group["messages"])
    return next(iter(re.findall(rf"{turn['you']}: (block_\d+)", texts)[-1:]), None)


def test_who_is_sent_to_a_block_sees_it_among_the_tasks_however_far_it_is(tmp_path: Path) -> None:
    cell = Cell.compose(["env=cube_coop2", "n=6", *TEAM, "topology.feedback=constraints"])
    sent = 0
    for turn, blocks in prompts(run_cell(cell, tmp_path).folder):
        if Act.PLAN in turn["may"] and (block := directed(blocks, turn)) is not None:
            sent += 1
            targets = [task["task"]["target"] for task in orjson.loads(blocks["constraints"])]
            assert f"{block}/left" in targets, turn
    assert sent > 3


def test_a_message_carries_in_the_trace_what_its_readers_are_shown(tmp_path: Path) -> None:
    folder = run_cell(Cell.compose(["env=cube_coop2", "n=3", *TEAM, "topology.feedback=constraints"]), tmp_path).folder
    carried = {}
    for stamped in read_trace(folder).events:
        if isinstance(stamped.event, MessageSent) and stamped.event.tasks:
            names = [task["task"]["target"] for task in stamped.event.tasks]
            carried |= {(stamped.t, f"agent_{agent}"): names for agent in stamped.event.recipients}
    shown = 0
    for turn, blocks in prompts(folder):
        if turn["role"] == "follower" and (turn["step"], turn["you"]) in carried and "constraints" in blocks:
            shown += 1
            listed = [task["task"]["target"] for task in orjson.loads(blocks["constraints"])]
            assert listed == carried[turn["step"], turn["you"]]
    assert shown > 3


def test_without_feedback_no_prompt_holds_any(tmp_path: Path) -> None:
    folder = run_cell(Cell.compose(["env=cube_coop2", *TEAM]), tmp_path).folder
    assert {"constraints" in blocks for _, blocks in prompts(folder)} == {False}
