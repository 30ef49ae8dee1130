"""The debate: rounds in which debaters propose, each shown what the others proposed last."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from maeil.calls import Call
from maeil.mind import View
from maeil.plans import Plan
from maeil.together import together
from quorum.agents.baselines.asking import Asker, BaselineRole
from quorum.agents.coordination.joint import NoJointPlan, Proposal, Rejection, named
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
        personas: who the debaters are, told to them in turn; none for debaters that are alike.
        in_turn: whether they speak one after the other, each having heard those before (ChatEval, "one-by-one"); else
            all at once.
    """

    def __init__(
        self,
        asker: Asker,
        debaters: int,
        rounds: int,
        merge: Merge,
        *,
        personas: Sequence[str] = (),
        in_turn: bool = False,
    ) -> None:
        self._asker = asker
        self._debaters = debaters
        self._rounds = rounds
        self._merge = merge
        self._personas = personas
        self._in_turn = in_turn

    async def plan(
        self, view: View, asked: Sequence[int], blocks: Mapping[str, object]
    ) -> tuple[dict[int, Plan], list[Call]]:
        """Hold the debate.

        Raises:
            NoJointPlan: all debaters are silent.
        """
        last: dict[int, Proposal] = {}
        rejections: Sequence[Rejection] = ()
        calls: list[Call] = []
        everybody = tuple(range(self._debaters))
        for speaking in ([(debater,) for debater in everybody] if self._in_turn else [everybody]) * self._rounds:
            shown = {k: {"thoughts": p.thoughts, "plans": named(p.plans, view.names)} for k, p in last.items()}
            outcomes = await together(
                partial(self._asker.joint, BaselineRole.DEBATER, view, asked, {**blocks, **self._debate(k, shown)})
                for k in speaking
            )
            for k, outcome in zip(speaking, outcomes, strict=True):
                calls += outcome.calls
                if not outcome.answer.rejections:
                    last[k] = outcome.answer
                rejections = rejections or outcome.answer.rejections
        if not last:
            raise NoJointPlan(self._asker.retries, rejections, calls)
        return self._merge([proposal.plans for _, proposal in sorted(last.items())], asked), calls

    def _debate(self, debater: int, shown: Mapping[int, object]) -> dict[str, object]:
        """What a debater is told of the debate: who it is, and the last proposals, its own and the others'."""
        others = {f"debater_{k}": proposal for k, proposal in shown.items() if k != debater}
        persona = self._personas[debater % len(self._personas)] if self._personas else None
        return {"debater": f"debater_{debater}", "persona": persona, "own": shown.get(debater), "others": others}
