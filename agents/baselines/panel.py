"""The debate: rounds in which all debaters are asked at once, each shown what the others proposed last."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from maeil.calls import Call
from maeil.mind import View
from maeil.plans import Plan
from maeil.together import together
from quorum.agents.baselines.asking import Asker, BaselineRole
from quorum.agents.coordination.joint import NoJointPlan, Proposal, named
from quorum.agents.skills import Merge


class Panel:
    """Joint plans of several debaters: `debaters` times `rounds` calls when all goes well.

    A debater whose answer cannot be read or carried out after all retries stays with its last proposal; one that has
    none is silent.

    Args:
        asker: asks the model that all debaters think with.
        debaters: how many there are.
        rounds: how often each proposes.
        merge: makes one joint plan of the last proposals.
    """

    def __init__(self, asker: Asker, debaters: int, rounds: int, merge: Merge) -> None:
        self._asker = asker
        self._debaters = debaters
        self._rounds = rounds
        self._merge = merge

    async def plan(
        self, view: View, asked: Sequence[int], blocks: Mapping[str, object]
    ) -> tuple[dict[int, Plan], list[Call]]:
        """Hold the debate.

        Raises:
            NoJointPlan: all debaters are silent.
        """
        last: dict[int, Proposal] = {}
        calls: list[Call] = []
        for _ in range(self._rounds):
            shown = {k: {"thoughts": p.thoughts, "plans": named(p.plans, view.names)} for k, p in last.items()}
            outcomes = await together(
                partial(self._asker.joint, BaselineRole.DEBATER, view, asked, {**blocks, **_debate(debater, shown)})
                for debater in range(self._debaters)
            )
            calls += [call for outcome in outcomes for call in outcome.calls]
            last |= {k: outcome.answer for k, outcome in enumerate(outcomes) if not outcome.answer.rejections}
        if not last:
            raise NoJointPlan(self._asker.retries, outcomes[0].answer.rejections, calls)
        return self._merge([proposal.plans for _, proposal in sorted(last.items())], asked), calls


def _debate(debater: int, shown: Mapping[int, object]) -> dict[str, object]:
    """What a debater is told of the debate: who it is, and the last proposals, its own and the others'."""
    others = {f"debater_{k}": proposal for k, proposal in shown.items() if k != debater}
    return {"debater": f"debater_{debater}", "own": shown.get(debater), "others": others}
