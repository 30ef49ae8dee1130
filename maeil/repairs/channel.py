"""The turns of a repair: those concerned state what they intend, then each decides; whatever the team's topology is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from maeil.mind import Act, Turn
from maeil.notices import REPAIR_WORDS, Notice
from maeil.topology import ConversationState, Topology, turns_with

Order = Literal["ascending", "together"]
"""Who states its intention when: one after the other by index, or all at once, so that nobody has heard another."""


class RepairChannel(Topology):
    """One statement of each member, if they are to speak at all; then all of them decide at once.

    The protocol of the authors is `ordered_one_round_intention_then_global_revision` (COOP2-Repair).

    Args:
        notice: what every turn shows.
        order: of the statements; None: nobody speaks.
    """

    name = "repair"
    words = REPAIR_WORDS

    def __init__(self, notice: Notice, order: Order | None) -> None:
        self._notice = notice
        self._order = order

    def turns(self, conversation: ConversationState) -> Sequence[Turn]:
        """Return the turn of the next to speak, or of all who have not spoken; then a turn to plan for each."""
        if not conversation.quiet:
            return []
        if self._order is not None and len(self._notice.channel) > 1:
            spoken = turns_with(Act.SPEAK, conversation)
            silent = [one for one in self._notice.channel if not spoken[one] and conversation.may_speak(one)]
            if silent:
                return [self._statement(one) for one in (silent[:1] if self._order == "ascending" else silent)]
        return [Turn(agent, frozenset({Act.PLAN}), notice=self._notice) for agent in conversation.undecided]

    def _statement(self, agent: int) -> Turn:
        others = tuple(other for other in self._notice.channel if other != agent)
        return Turn(agent, frozenset({Act.SPEAK}), others, limit=1, notice=self._notice)
