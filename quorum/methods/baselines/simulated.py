"""The simulated model in the roles of the baselines. The world's speaker supplies the joint plans."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quorum.agents.coordination.joint import Joint, read_plans
from quorum.agents.simulated.joint_plans import entries, read_given
from quorum.agents.skills import Chooser, Speaker, skills_of
from quorum.methods.baselines.asking import BaselineRole
from quorum_base.names import unfold_names

SIDES = ("exploiter", "explorer")
"""The rules behind the joint plans: debaters alternate between them; all other planners use the first."""


def play(blocks: Mapping[str, str], speaker: Speaker[Any], chooser: Chooser) -> dict[str, Any]:
    """Answer in a role.

    Args:
        blocks: the blocks of the prompt, as JSON; `turn` names the role.
        speaker: the rules of the world.
        chooser: makes the choices.
    """
    given = read_given(blocks)
    match given["turn"]["role"]:
        case BaselineRole.REVIEWER:
            return _review(given, blocks["observation"], speaker, chooser)
        case BaselineRole.TALKER:
            return _talk(given, speaker, chooser)
        case BaselineRole.DEBATER if "own" in given:
            return {"thoughts": "I go with the most.", "plans": _side_with_most(given, chooser)}
    side = SIDES[int(given.get("debater", "0").rpartition("_")[2]) % len(SIDES)]
    return {"thoughts": f"I am the {given['turn']['role']}.", "plans": entries(given, side, speaker, chooser)}


def _review(given: Mapping[str, Any], seen: str, speaker: Speaker[Any], chooser: Chooser) -> dict[str, Any]:
    """Object if the world's gates reject the plan; agree if it has none. A poor verdict is random."""
    turn = given["turn"]
    names = unfold_names(turn["team"])
    agent = names.index(turn["you"])
    skills = skills_of(turn["world"])
    reason = ""
    if skills.has("gates"):
        plans = {turn["you"]: given["suggestion"], **given.get("others", {})}
        joint = Joint(read_plans(plans, speaker.vocabulary, names))
        wrong = skills.gates(speaker.vocabulary).confirm(agent, speaker.read_observation(seen), joint)
        reason = wrong.text if wrong is not None else ""
    if chooser.is_poor():
        reason = chooser.any_of(("", "I would rather do something else."))
    return {"thoughts": "I have looked at my part.", "agrees": not reason, "reason": reason, "proposal": None}


def _talk(given: Mapping[str, Any], speaker: Speaker[Any], chooser: Chooser) -> dict[str, Any]:
    """Propose if first to speak. Otherwise, or if alone, state the joint plan: the coordinator's, or its own."""
    proposal = given.get("proposal", {})
    if proposal and not chooser.is_poor():
        plans = [{"agent": agent, "plan": plan} for agent, plan in proposal.items() if agent in given["asked"]]
    else:
        plans = entries(given, SIDES[0], speaker, chooser)
    if "dialogue" in given or len(given["asked"]) == 1:
        return {"thoughts": "It is time to act.", "message": "This is our plan.", "plans": plans}
    tasks = "; ".join(f"{entry['agent']}: {_task(entry['plan'])}" for entry in plans)
    return {"thoughts": "I am the first.", "message": f"I propose: {tasks or 'that we wait'}.", "plans": None}


def _task(plan: Mapping[str, Any]) -> str:
    task = plan.get("task")
    return f"{task['kind']} {task['target']}" if task is not None else "something"


def _side_with_most(given: Mapping[str, Any], chooser: Chooser) -> list[dict[str, Any]]:
    """Take each agent's most frequent plan among the debaters; ties go to its own."""
    proposals = [given["own"]["plans"], *(other["plans"] for other in given.get("others", {}).values())]
    found = []
    for agent in given["asked"]:
        votes = [proposal.get(agent) for proposal in proposals]
        keys = [(plan.get("task"), plan["actions"]) if plan is not None else None for plan in votes]
        plan = votes[0] if chooser.is_poor() else votes[keys.index(max(keys, key=keys.count))]
        if plan is not None:
            found.append({"agent": agent, "plan": plan})
    return found
