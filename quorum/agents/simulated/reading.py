"""Reads a prompt as a model would: finds the data in it, and makes of them what a mind sees; answers repairs.

In a repair the model says what it is going to do, and does as advised where it is advised. Without advice it plans as
though it had no plan, by what it sees and has heard in the channel. If it only learns what will fail, it goes on when
the failure is not of its plan.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson

from maeil.actions import Vocabulary, as_call
from maeil.extensions.describe.descriptors import Need
from maeil.extensions.repair.rules import Advice, Notice, Violation
from maeil.messages import Draft, Message, MessageKind
from maeil.mind import Act, Note, Observation, PlanView, Resume, Thought, Turn, View
from maeil.names import unfold_names
from maeil.plans import Plan, PlanStatus, Task
from maeil.tasks import Constraint
from quorum.agents.coordination.prompts import Notation
from quorum.agents.llm.protocol import ChatMessage, ChatRole, Request
from quorum.agents.naive.answers import ALL
from quorum.agents.prompting.blocks import read_blocks
from quorum.agents.prompting.open_tasks import read_open_task
from quorum.agents.skills import Chooser, Speaker, role_of

_ACTION = re.compile(r"^- ([A-Za-z_]\w*)\(", re.MULTILINE)


def find_blocks(request: Request) -> tuple[Mapping[str, str], Sequence[ChatMessage]]:
    """Find the blocks of a request.

    Returns:
        The blocks of the last message of a user that holds a `turn`, with those of the rules, and the messages after
        it: a wrong answer and the request to fix it. Nothing when no message holds one.
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
    """Find the names of the actions that the prompt lists, one a line, as `- push_block(block, steps=1): ...`."""
    texts = (message.content for message in request.messages if message.role is ChatRole.SYSTEM)
    return frozenset(name for text in texts for name in _ACTION.findall(text))


def read_view(blocks: Mapping[str, str], observation: Observation, vocabulary: Vocabulary) -> View:
    """Make a view of the blocks of a prompt.

    Args:
        blocks: by name, as JSON.
        observation: the block of that name, read by the rules of the world.
        vocabulary: what plans are made of.

    Raises:
        ValueError, KeyError: the blocks are not what `quorum.agents.naive.prompts` writes.
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
        notes=read_notes(blocks, index, vocabulary),
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
    actions = _calls(data["actions"], vocabulary)
    task = Task(**data["task"]) if data["task"] is not None else None
    done = data.get("actions_done", len(actions))
    return PlanView("", task, actions, done, PlanStatus(data["status"]), data.get("reason", ""))


def _calls(actions: Sequence[Mapping[str, Any]], vocabulary: Vocabulary) -> tuple[str, ...]:
    """Actions as a view has them; of others than one knows, with their arguments in the order of the prompt."""
    return tuple(
        str(vocabulary.parse(action)) if action["action"] in vocabulary.names else as_call(action) for action in actions
    )


def read_text_blocks(blocks: Mapping[str, str]) -> tuple[Mapping[str, str], Notation | None]:
    """Return the blocks of a prompt with typed values, and the notation that they were in; None where they were typed.

    Raises:
        ValueError, KeyError: the blocks are not what `quorum.agents.coordination.prompts` writes.
    """
    turn = orjson.loads(blocks["turn"])
    if not turn.get("text"):
        return blocks, None
    shown = orjson.loads(blocks["state" if "state" in blocks else "observation"])
    notation = role_of(turn["world"], "notation", "this prompt")(lambda: shown)
    return {name: orjson.dumps(notation.read(orjson.loads(text))).decode() for name, text in blocks.items()}, notation


def resolve_choices(answer: dict[str, Any], blocks: Mapping[str, str]) -> None:
    """Put the plans that an assessor has chosen into its answer: a text names no critic."""
    for choice in answer.get("choices", ()):
        if choice["plan"] is None:
            choice["plan"] = orjson.loads(blocks[choice["source"]])["plans"][choice["agent"]]


def read_expected(blocks: Mapping[str, str], names: Sequence[str]) -> dict[int, Task | None]:
    """Return what a prompt says about the next plans of others, by their index.

    Args:
        blocks: of the prompt, as JSON.
        names: of all participants by index.
    """
    expected = orjson.loads(blocks.get("expected", "{}"))
    return {names.index(name): Task(**task) if task is not None else None for name, task in expected.items()}


def read_notes(blocks: Mapping[str, str], index: Mapping[str, int], vocabulary: Vocabulary) -> tuple[Note, ...]:
    """Read the notes of the extensions that ship with the loop.

    Args:
        blocks: of a prompt by name, as JSON.
        index: of each participant, by its name.
        vocabulary: of plans.

    Raises:
        KeyError, ValueError: a block is not what its extension writes.
    """
    found = []
    if "repair" in blocks:
        notice = _notice(orjson.loads(blocks["repair"]), index, vocabulary)
        found.append(_note("repair", notice, notice.channel, replan=notice.replan))
    if "needs" in blocks:
        needs = orjson.loads(blocks["needs"]).items()
        content = tuple((index[name], Need(need["text"], tuple(need["tasks"]))) for name, need in needs)
        found.append(_note("describe", content))
    return tuple(found)


def _note(source: str, content: object, agents: tuple[int, ...] = (), *, replan: bool = False) -> Note:
    return Note(source, content, "", None, Path(), agents, replan=replan)


def _notice(data: Mapping[str, Any], index: Mapping[str, int], vocabulary: Vocabulary) -> Notice:
    """Read what a repair shows, except for the ids of plans, which no prompt shows."""

    def agents(shown: Sequence[str]) -> tuple[int, ...]:
        return tuple(index[name] for name in unfold_names(shown))

    def advised(plan: Mapping[str, Any]) -> Plan:
        task = Task(**plan["task"]) if "task" in plan else None
        return Plan(tuple(vocabulary.parse(action) for action in plan["actions"]), task, "as advised")

    def failure(shown: Mapping[str, Any]) -> Violation:
        task, constraint = Task(**shown["task"]), Constraint(shown["constraint"])
        return Violation(task, constraint, agents(shown["agents"]), shown["expected"], shown["needed"])

    def judged(shown: Mapping[str, Any]) -> PlanView:
        task = Task(**shown["task"]) if shown["task"] is not None else None
        return PlanView("", task, _calls(shown["actions"], vocabulary), shown["actions_done"], PlanStatus.COMMITTED)

    advice = None
    if (shown := data.get("advice")) is not None:
        advice = Advice(Task(**shown["task"]), {index[name]: advised(plan) for name, plan in shown["plans"].items()})
    return Notice(
        tuple(map(failure, data["failures"])),
        {index[name]: judged(shown) for name, shown in data["plans"].items()},
        agents(data["channel"]),
        data["plan_anew"],
        advice,
    )


def answer_repair(speaker: Speaker[Any], view: View, chooser: Chooser) -> Thought:
    """Answer a turn that shows a repair.

    Args:
        speaker: the rules of the world.
        view: what the prompt shows, with notes.
        chooser: makes the choices of this answer; where one is poor, advice is not followed.
    """
    (notice,) = view.noted("repair")
    advised = notice.advice.plans.get(view.agent) if notice.advice is not None else None
    if advised is not None and chooser.is_poor():
        advised = None
    fresh = replace(view, plan=None, notes=())
    if Act.PLAN not in view.turn.acts:
        if advised is not None and notice.advice is not None:
            said = _promise(view, f"I take part in {notice.advice.task}, as advised.", notice.advice.task)
            return Thought(messages=(said,))
        drafts = speaker.answer(fresh, chooser).messages
        return Thought(messages=drafts[:1] or (_promise(view, "I plan anew by what you say."),))
    if advised is not None:
        return Thought(advised)
    concerned = any(view.agent in failure.agents for failure in notice.failures)
    if view.plan is not None and not notice.replan and not concerned:
        return Thought(Resume.RESUME)
    return Thought(speaker.answer(fresh, chooser).decision)


def _promise(view: View, text: str, task: Task | None = None) -> Draft:
    return Draft(view.turn.recipients, text, MessageKind.INFORM, task, ())
