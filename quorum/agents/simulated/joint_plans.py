"""The simulated model in the roles of LLaMAC. The world's speaker makes the joint plans."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from quorum.agents.coordination.prompts import AS_THEY_ARE, read_plans_shown
from quorum.agents.llamac.settings import LlamacRole
from quorum.agents.prompting.answers import plan_value
from quorum.agents.skills import Chooser, JointPlanRequest, Speaker
from quorum_base.names import unfold_names


def play(blocks: Mapping[str, str], speaker: Speaker[Any], chooser: Chooser) -> dict[str, Any]:
    """Answer in a role.

    Args:
        blocks: the blocks of the prompt, as JSON; `turn` names the role.
        speaker: the rules of its world.
        chooser: makes the choices.
    """
    given = read_given(blocks)
    match given["turn"]["role"]:
        case LlamacRole.ACTOR:
            failed = given["failed_check"]
            return {"thoughts": f"{failed['code']} does not hold.", "issue": failed["problem"], "proposal": None}
        case LlamacRole.ASSESSOR:
            return {"thoughts": "I take whole teams.", "choices": _choose(given, chooser)}
        case side:
            plans = entries(given, side, speaker, chooser)
            return {"thoughts": f"I am the {side}.", "plans": plans}


def read_given(blocks: Mapping[str, str]) -> dict[str, Any]:
    """Read the blocks of a role prompt, with plans in the form of answers."""
    given = {
        name: orjson.loads(text) if name in AS_THEY_ARE else read_plans_shown(orjson.loads(text))
        for name, text in blocks.items()
    }
    return {**given, "asked": unfold_names(given["asked"])} if "asked" in given else given


def entries(given: Mapping[str, Any], role: str, speaker: Speaker[Any], chooser: Chooser) -> list[dict[str, Any]]:
    """Make a joint plan by the rules of a world.

    Args:
        given: the blocks of the prompt.
        role: `explorer` or `exploiter`.
        speaker: the rules of the world.
        chooser: makes the choices.

    Returns:
        The entries of the answer.
    """
    names = unfold_names(given["turn"]["team"])
    index = {name: agent for agent, name in enumerate(names)}
    running = {index[name]: plan for name, plan in given.get("commitments", {}).items()}
    asked = [index[name] for name in given["asked"]]
    wrong = frozenset(index[name] for name in _refused(given))
    plans = speaker.propose(JointPlanRequest(role, given["state"], running, asked, chooser, wrong))
    return [{"agent": names[agent], "plan": plan_value(plan)} for agent, plan in sorted(plans.items())]


def _refused(given: Mapping[str, Any]) -> set[str]:
    """The agents named in internal feedback."""
    return {name for entry in given.get("feedback", ()) for name in entry["agents"]}


def _choose(given: Mapping[str, Any], chooser: Chooser) -> list[dict[str, Any]]:
    """Choose all of the exploiter's plans; the explorer's after a refusal, and for agents that object.

    A choice found wrong is not drawn at random again. With only one critic, its plan is kept, because a plan without
    progress may be a detour.
    """
    sources = {name: given[name]["plans"] for name in ("exploiter", "explorer") if name in given}
    preferred = "explorer" if given.get("feedback") else "exploiter"
    refused = given.get("suggestion", {})
    wrong = _refused(given)
    choices = []
    for agent in given["asked"]:
        offers = [name for name, plans in sources.items() if agent in plans]
        if len(sources) > 1:
            offers = [name for name in offers if sources[name][agent] != refused.get(agent)]
        if not offers:
            continue
        if chooser.is_poor() and agent not in wrong:
            source = chooser.any_of(offers)
        elif preferred in offers or refused:
            source = preferred if preferred in offers else offers[0]
        else:
            continue  # the preferred proposal has no plan for it, and teams stay whole
        choices.append({"agent": agent, "source": source, "plan": None})
    return choices
