"""The simulated model in the roles of DR. WELL: it uses recorded results and explores untried options.

It is a plausible model, not an ideal one: it does not know which kind of plan a task takes. It draws first drafts from
the world's speaker and chooses among them by experience with the current task.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from maeil.plans import Plan, Task
from quorum.agents.llm.errors import BadRequest
from quorum.agents.prompting.answers import part_value
from quorum.agents.simulated.joint_plans import read_given
from quorum.agents.skills import Chooser, Speaker
from quorum.methods.drwell.mind import DrwellRole
from quorum_base.names import unfold_names

_IN_VAIN = ("failed", "timed_out")
_Shown = Mapping[str, Any]


def play(blocks: Mapping[str, str], speaker: Speaker[Any], chooser: Chooser) -> dict[str, Any]:
    """Answer in a role.

    Args:
        blocks: the blocks of the prompt, as JSON; `turn` names the role.
        speaker: the rules of the world.
        chooser: makes the choices.

    Raises:
        BadRequest: the speaker cannot plan for a task.
    """
    given = read_given(blocks)
    if given["turn"]["role"] == DrwellRole.PLANNER:
        return {"thoughts": "By what was tried for it.", "plan": _plan(given, blocks, speaker, chooser)}
    tasks: Sequence[_Shown] = given["tasks"]
    if chooser.is_poor():
        chosen = chooser.any_of(tasks)
    elif given["turn"]["role"] == DrwellRole.COMMITTER:
        chosen = _commit(given)
    else:
        chosen = _propose(given)
    answer = {"thoughts": f"{len(tasks)} tasks are open.", "task": chosen["task"]}
    if given["turn"]["role"] == DrwellRole.COMMITTER:
        return answer
    return {**answer, "why": f"It lacks {_lacking(chosen)}, and {_known(chosen)}."}


def _propose(given: Mapping[str, Any]) -> _Shown:
    """Support a proposal that lacks agents. Otherwise prefer untried tasks, then the fastest successful ones."""
    wanted = _proposed(given)
    more = {_name(shown): _lacking(shown) - wanted[_name(shown)] for shown in given["tasks"]}
    short = [shown for shown in given["tasks"] if wanted[_name(shown)] and more[_name(shown)] > 0]
    if short:
        return min(short, key=lambda shown: more[_name(shown)])
    room = unfold_names(given["room"])
    free = len(room) - len(given.get("proposals", ()))
    last = given.get("past_plans", [{}])[-1]
    left = _written(last.get("task")) if len(room) == 1 and last.get("status") in _IN_VAIN else ""

    def order(shown: _Shown) -> tuple[object, ...]:
        name = _name(shown)
        return name == left, more[name] <= 0, bool(shown.get("before")), more[name] > free, *_rank(shown)

    return min(given["tasks"], key=order)


def _commit(given: Mapping[str, Any]) -> _Shown:
    """Return the agent's task after staffing the proposals in a common order: proposers first, then by index."""
    wanted = _proposed(given)
    tasks = {_name(shown): shown for shown in given["tasks"]}
    room = unfold_names(given["room"])
    said = {agent: _name(shown) for agent, shown in given.get("proposals", {}).items()}
    placed: dict[str, str] = {}
    for name in sorted((name for name in wanted if name in tasks), key=lambda name: -wanted[name]):
        free = sorted((agent for agent in room if agent not in placed), key=lambda agent: said.get(agent) != name)
        if len(free) >= _lacking(tasks[name]):
            placed |= dict.fromkeys(free[: max(1, _lacking(tasks[name]))], name)
    own = given["turn"]["you"]
    return tasks.get(placed.get(own) or said.get(own, "")) or _propose(given)


def _plan(
    given: Mapping[str, Any], blocks: Mapping[str, str], speaker: Speaker[Any], chooser: Chooser
) -> dict[str, Any]:
    """Choose the draft with the best recorded results of such plans, breaking ties at random.

    Skip plans that recently failed for this agent, unless there is no other.
    """
    agent = unfold_names(given["turn"]["team"]).index(given["turn"]["you"])
    seen = speaker.read_observation(blocks["observation"])
    try:
        drafts = speaker.drafts(seen, agent, Task(**given["task"]), chooser)
    except ValueError as error:
        raise BadRequest(f"llm=simulated: {error}") from error
    failed = [plan["actions"] for plan in given.get("past_plans", ()) if plan["status"] in _IN_VAIN]
    drafts = [draft for draft in drafts if part_value(draft)["actions"] not in failed] or drafts
    order = chooser.rng.permutation(len(drafts)).tolist()
    if chooser.is_poor():
        return part_value(Plan(drafts[order[0]].actions))
    best = min(order, key=lambda index: _expected(drafts[index], given))
    return part_value(Plan(drafts[best].actions))


def _expected(draft: Plan, given: Mapping[str, Any]) -> tuple[float, float]:
    """Return a draft's sort key, best first, from results of identical plans, or else of plans of the same kinds."""
    actions = part_value(draft)["actions"]
    same = [shown for shown in given.get("instances", ()) if shown["plan"]["actions"] == actions]
    alike = [shown for shown in given.get("prototypes", ()) if shown["kinds"] == [each["action"] for each in actions]]
    for shown in (*same, *alike):
        return -_likely(shown["success_rate"], shown["attempts"]), float(shown.get("mean_steps", np.inf))
    return -_likely(0, 0), 0.0


def _likely(success_rate: float, attempts: int) -> float:
    """Estimate a plan's success rate by Laplace's rule of succession; an untried plan gets one half."""
    return (success_rate * attempts + 1) / (attempts + 2)


def _rank(shown: _Shown) -> tuple[float, float]:
    """Sort key of a task: successful ones first, faster first; an untried task counts as certain to succeed."""
    if not shown["attempts"]:
        return -1.0, 0.0
    return -float(shown["success_rate"]), float(shown.get("mean_steps", np.inf))


def _known(shown: _Shown) -> str:
    if not shown["attempts"]:
        return "nobody has tried it"
    return f"{shown['success_rate']:.0%} of {shown['attempts']} attempts came off"


def _lacking(shown: _Shown) -> int:
    """Return how many agents a task still needs beyond those whose plans serve it."""
    return max(0, int(shown["needs"]) - len(unfold_names(shown.get("planned", ()))))


def _proposed(given: Mapping[str, Any]) -> Counter[str]:
    return Counter(map(_name, given.get("proposals", {}).values()))


def _name(shown: _Shown) -> str:
    return _written(shown["task"])


def _written(task: Mapping[str, str] | None) -> str:
    return f"{task['kind']}:{task['target']}" if task is not None else ""
