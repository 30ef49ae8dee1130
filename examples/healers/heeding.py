"""The simulated model, which follows healers' remarks as far as its rules allow.

| finding | reaction |
|---|---|
| orphan, deadlock, incomplete coverage, repeated effort | plans again, as though the subject had failed |
| missed submission, excessive rerouting | plans for the subject, if it is among the handlers |
| missing dependency | listens to the handler, and not to the others whose messages the remark shows |

A remark about something it no longer works on changes nothing. Only the last remark counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import orjson

from crafter_env import CrafterObservation
from cube_env import SymbolicObservation
from healers.healing import HealerNote
from maeil.dig.patterns import Pattern
from maeil.mind import Act, PlanView, Thought, View
from maeil.plans import Plan, PlanStatus, Task
from quorum.agents.answer_parts import Asked
from quorum.agents.simulated import SimulatedSettings
from quorum.agents.simulated.model import SimulatedModel
from quorum.agents.skills import Chooser, Speaker
from quorum.agents.skills.cube.plans import PATIENCE, Wording, block_of, clear
from quorum.configuration.providers.config import ProviderConfig
from quorum.open_world.gathering import follow
from quorum.open_world.hearsay import Assignment, listen
from quorum.open_world.scene import Scene
from quorum.open_world.speaker import HOPE
from quorum_base.names import unfold_names


class HeedingConfig(ProviderConfig, SimulatedSettings):
    """Values of `heeding`: those of `simulated`."""

    name: Literal["heeding"]
    calibrated_to: str
    """As in `simulated`."""

    @property
    def priced(self) -> bool:
        """Whether replies state their cost: the prices are values of this configuration."""
        return True


class HeedingModel(SimulatedModel):
    """The simulated model in a team with healers."""

    def think(self, asked: Asked) -> Thought:
        """Follow the last remark of a healer, unless a repair is under way."""
        if "healer" not in asked.blocks or asked.view.noted("repair"):
            return super().think(asked)
        note = read_remarks(asked.blocks["healer"], asked.view.names)[-1]
        return answer_healed(asked.speaker, asked.view, note, asked.chooser)


def heeding_model(config: HeedingConfig, _context: None) -> HeedingModel:
    """Make the model."""
    return HeedingModel(config)


def read_remarks(block: str, names: Sequence[str]) -> tuple[HealerNote, ...]:
    """Parse the healers' remarks in a prompt.

    Args:
        block: the block `healer`, as JSON.
        names: names of all participants, by index.

    Raises:
        KeyError, ValueError: the block does not have the format of healers' remarks.
    """
    index = {name: number for number, name in enumerate(names)}
    return tuple(
        HealerNote(
            number=number,
            healer=Pattern(shown["finding"]),
            text=shown["says"],
            subject=shown.get("about", ""),
            handlers=tuple(index[name] for name in unfold_names(shown.get("handlers", ()))),
            messages=tuple((index[name], text) for name, text in shown.get("messages", ())),
        )
        for number, shown in enumerate(orjson.loads(block))
    )


_TAKE_UP = frozenset({Pattern.MISSED_SUBMISSION, Pattern.EXCESSIVE_REROUTING})


def answer_healed(speaker: Speaker[Any], view: View, note: HealerNote, chooser: Chooser) -> Thought:
    """Answer a turn that shows a remark of a healer.

    Args:
        speaker: the rules of the world.
        view: the data in the prompt.
        note: the last remark.
        chooser: makes the choices of this answer; a poor choice ignores the remark.
    """
    if chooser.is_poor():
        return speaker.answer(view, chooser)
    if note.healer in _TAKE_UP:
        return _take_up(speaker, view, note, chooser)
    if note.healer is Pattern.MISSING_DEPENDENCY:
        return speaker.answer(_listening(view, note), chooser)
    return speaker.answer(_without(view, note), chooser)


def _take_up(speaker: Speaker[Any], view: View, note: HealerNote, chooser: Chooser) -> Thought:
    thought = speaker.answer(view, chooser)
    plan = toward(speaker, view, note.subject) if view.agent in note.handlers else None
    if plan is None or Act.PLAN not in view.turn.acts:
        return thought
    return replace(thought, decision=plan)


def toward(speaker: Speaker[Any], view: View, target: str) -> Plan | None:
    """Return a plan to work on a target; None if the world's rules have none.

    Args:
        speaker: the rules of the world.
        view: the data in the prompt.
        target: its name in the target of a task: `block_3`, `tree_3543`.
    """
    seen, place = view.observation, target.rpartition("_")[2]
    if isinstance(seen, SymbolicObservation):
        wanted = block_of(Task("deliver", target))
        block = next((block for block in clear(seen) if block.id == wanted), None)
        wording = Wording.of({"rendezvous"} & speaker.needs)
        return wording.delivery(block, "I was told to", PATIENCE) if block is not None else None
    if not isinstance(seen, CrafterObservation) or seen.cell is None or not seen.alive or not place.isdecimal():
        return None
    asked = Assignment(frozenset({view.agent}), Task("collect", target), int(place), HOPE, view.t)
    return follow(Scene(seen, listen(view).places), asked)


def _listening(view: View, note: HealerNote) -> View:
    """Return a view that keeps, of the annotated messages, only those sent by a handler."""
    left_out = {text for sender, text in note.messages if sender not in note.handlers}
    unread, memory = (
        tuple(message for message in messages if message.content not in left_out)
        for messages in (view.unread, view.memory)
    )
    return replace(view, unread=unread, memory=memory)


def _without(view: View, note: HealerNote) -> View:
    """Return a view in which the live plan has failed, if the remark concerns its task."""
    plan = view.plan
    if plan is None or (note.subject and (plan.task is None or not _is_about(plan.task, note.subject))):
        return view
    failed = PlanView(plan.id, plan.task, plan.actions, plan.done, PlanStatus.FAILED, note.healer)
    return replace(view, plan=None, outcomes=(*view.outcomes, failed))


def _is_about(task: Task, subject: str) -> bool:
    return task.target.partition("/")[0] == subject
