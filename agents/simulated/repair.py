"""The simulated model in a repair: it says what it is going to do, and does as advised where it is advised.

Without advice it plans as though it had no plan, by what it sees and has heard in the channel. One that is only told
what will fail goes on when the failure is not of its own plan.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from maeil.messages import Draft, MessageKind
from maeil.mind import Act, Resume, Thought, View
from quorum.agents.skills import Speaker


def answer_repair(speaker: Speaker[Any], view: View, poor: float, rng: np.random.Generator) -> Thought:
    """Answer a turn of a repair.

    Args:
        speaker: the rules of the world.
        view: what the prompt tells, with a notice.
        poor: probability that a choice is made at random; advice is then not followed.
        rng: for the choices of this answer.
    """
    (notice,) = view.noted("repair")
    advised = notice.advice.plans.get(view.agent) if notice.advice is not None else None
    if advised is not None and poor and rng.random() < poor:
        advised = None
    anew = replace(view, plan=None, notes=())
    if Act.PLAN not in view.turn.acts:
        if advised is not None and notice.advice is not None:
            return Thought(messages=(_promise(view, f"I take part in {notice.advice.task}, as advised."),))
        said = speaker.answer(anew, poor, rng).messages
        return Thought(messages=said[:1] or (_promise(view, "I plan anew by what you say."),))
    if advised is not None:
        return Thought(advised)
    concerned = any(view.agent in failure.agents for failure in notice.failures)
    if view.plan is not None and not notice.replan and not concerned:
        return Thought(Resume.RESUME)
    return Thought(speaker.answer(anew, poor, rng).decision)


def _promise(view: View, text: str) -> Draft:
    return Draft(view.turn.recipients, text, MessageKind.INFORM)
