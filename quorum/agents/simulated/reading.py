"""Reads a prompt as a model would: finds its data and converts them to a mind's view."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import orjson

from maeil.actions import Vocabulary, as_call
from maeil.messages import Message, MessageKind
from maeil.mind import Act, Observation, PlanView, Turn, View
from maeil.plans import PlanStatus, Task
from quorum.agents.answer_parts import all_parts
from quorum.agents.coordination.prompts import Notation
from quorum.agents.llm.protocol import ChatMessage, ChatRole, Request
from quorum.agents.naive.answers import ALL
from quorum.agents.prompting.blocks import read_blocks
from quorum.agents.prompting.open_tasks import read_open_task
from quorum.agents.skills import role_of
from quorum_base.names import unfold_names

_ACTION = re.compile(r"^- ([A-Za-z_]\w*)\(", re.MULTILINE)


def find_blocks(request: Request) -> tuple[Mapping[str, str], Sequence[ChatMessage]]:
    """Find the blocks of a request.

    Returns:
        The blocks of the last user message with a `turn`, together with those of the rules, and the messages after it:
        a wrong answer and the request to fix it. Empty if no message has one.
    """
    rules: dict[str, str] = {}
    for message in request.messages:
        if message.role is ChatRole.SYSTEM:
            rules |= read_blocks(message.content)
    for index in reversed(range(len(request.messages))):
        message = request.messages[index]
        if message.role is ChatRole.USER and "turn" in (blocks := read_blocks(message.content)):
            return {**rules, **blocks}, request.messages[index + 1 :]
    return {}, ()


def find_actions(request: Request) -> frozenset[str]:
    """Find the names of the actions that the prompt lists, one per line, as `- push_block(block, steps=1): ...`."""
    texts = (message.content for message in request.messages if message.role is ChatRole.SYSTEM)
    return frozenset(name for text in texts for name in _ACTION.findall(text))


def read_view(blocks: Mapping[str, str], observation: Observation, vocabulary: Vocabulary) -> View:
    """Make a view from the blocks of a prompt.

    Args:
        blocks: the blocks by name, as JSON.
        observation: the block of that name, read by the rules of the world.
        vocabulary: the vocabulary of plans.

    Raises:
        ValueError, KeyError: the blocks were not written by `quorum.agents.naive.prompts`.
    """
    turn = orjson.loads(blocks["turn"])
    names = tuple(unfold_names(turn["team"]))
    index = {name: position for position, name in enumerate(names)}
    agent = index[turn["you"]]
    return View(
        agent=agent,
        name=turn["you"],
        names=names,
        turn=Turn(
            agent,
            frozenset(act for act in Act if act in turn["may"]),
            tuple(index[name] for name in unfold_names(turn.get("recipients", ()))),
            turn.get("most_messages"),
            turn.get("role", ""),
            asks=frozenset(turn["may"]) - set(Act),
        ),
        t=turn["step"],
        t_hat=0,
        observation=observation,
        unread=tuple(_messages(_list(blocks, "unread"), index)),
        memory=tuple(_messages(_list(blocks, "memory"), index)),
        plan=_plan(orjson.loads(blocks["plan"]), vocabulary) if "plan" in blocks else None,
        outcomes=tuple(_plan(plan, vocabulary) for plan in _list(blocks, "past_plans")),
        constraints=tuple(read_open_task(task, index) for task in _list(blocks, "constraints")),
        problems=tuple(_list(blocks, "problems")),
        notes=tuple(note for one in all_parts() if (note := one.note(blocks, index, vocabulary)) is not None),
    )


def _list(blocks: Mapping[str, str], name: str) -> list[Any]:
    found: list[Any] = orjson.loads(blocks.get(name, "[]"))
    return found


def _messages(data: Sequence[Mapping[str, Any]], index: Mapping[str, int]) -> Iterator[Message]:
    for group in data:
        for said in group["messages"]:
            sender = index[said["author"]]
            if group["recipients"] == [ALL]:
                recipients = tuple(other for other in index.values() if other != sender)
            else:
                recipients = tuple(index[name] for name in unfold_names(group["recipients"]))
            yield Message(0, sender, recipients, said["content"], MessageKind(group["kind"]), group["step"], 0, 0)


def _plan(data: Mapping[str, Any], vocabulary: Vocabulary) -> PlanView:
    actions = read_calls(data["actions"], vocabulary)
    task = Task(**data["task"]) if data["task"] is not None else None
    done = data.get("actions_done", len(actions))
    return PlanView("", task, actions, done, PlanStatus(data["status"]), data.get("reason", ""))


def read_calls(actions: Sequence[Mapping[str, Any]], vocabulary: Vocabulary) -> tuple[str, ...]:
    """Return actions as a view shows them; unknown ones keep the prompt's order of arguments."""
    return tuple(
        str(vocabulary.parse(action)) if action["action"] in vocabulary.names else as_call(action) for action in actions
    )


def read_text_blocks(blocks: Mapping[str, str]) -> tuple[Mapping[str, str], Notation | None]:
    """Return the blocks of a prompt with typed values, and their original notation; None if they were typed.

    Raises:
        ValueError, KeyError: the blocks were not written by `quorum.agents.coordination.prompts`.
    """
    turn = orjson.loads(blocks["turn"])
    if not turn.get("text"):
        return blocks, None
    shown = orjson.loads(blocks["state" if "state" in blocks else "observation"])
    notation = role_of(turn["world"], "notation", "this prompt")(lambda: shown)
    return {name: orjson.dumps(notation.read(orjson.loads(text))).decode() for name, text in blocks.items()}, notation


def resolve_choices(answer: dict[str, Any], blocks: Mapping[str, str]) -> None:
    """Insert the plans that an assessor has chosen into its answer, because a text names no critic."""
    for choice in answer.get("choices", ()):
        if choice["plan"] is None:
            choice["plan"] = orjson.loads(blocks[choice["source"]])["plans"][choice["agent"]]
