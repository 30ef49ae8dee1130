"""Agents' offers and needs, which decide who writes to whom (DyTopo, arXiv 2602.06039).

A topology never sees the descriptions. A matcher compares needs with offers and gives the topology the scores.
"""

from __future__ import annotations

from dataclasses import dataclass

EMBEDDING = "embedding"
"""The embedding matcher, and the role in which minds ask a model for embeddings."""


@dataclass(frozen=True, slots=True)
class Need:
    """What an agent lacks or wants to know: the query in DyTopo.

    Attributes:
        text: the agent's own words.
        tasks: the tasks concerned, by the world's names.
    """

    text: str
    tasks: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """The text and the task names, as one string."""
        return " ".join((self.text, *self.tasks)).strip()


@dataclass(frozen=True, slots=True)
class Offer(Need):
    """What an agent can do or share: the key in DyTopo.

    Attributes:
        free: whether the agent is free to help others.
    """

    free: bool = True


@dataclass(frozen=True, slots=True)
class Descriptor:
    """An agent's offer and need in a round.

    Attributes:
        offers: the offer.
        needs: the need.
        offered: the embedding of the offer if the topology matches by embeddings; empty if the text is empty.
        needed: the embedding of the need.
    """

    offers: Offer
    needs: Need
    offered: tuple[float, ...] = ()
    needed: tuple[float, ...] = ()


Edge = tuple[int, int]
"""The sender's and the recipient's index."""


@dataclass(frozen=True, slots=True)
class Affinity:
    """The match scores: all that a topology sees of descriptors.

    Attributes:
        agents: the agents that described themselves, ascending.
        scores: `scores[i][j]`, from 0 to 1: how well `agents[j]` offers what `agents[i]` needs; 0 on the diagonal.
    """

    agents: tuple[int, ...]
    scores: tuple[tuple[float, ...], ...]

    def of(self, sender: int, recipient: int) -> float:
        """Return how well the sender's offer matches the recipient's need."""
        return self.scores[self.agents.index(recipient)][self.agents.index(sender)]
