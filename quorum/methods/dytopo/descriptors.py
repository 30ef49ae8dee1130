"""What agents say they offer and need, so that it can be settled who writes to whom (DyTopo, arXiv 2602.06039).

A topology never sees a word of it. A matcher holds needs against offers, and the topology is given the scores.
"""

from __future__ import annotations

from dataclasses import dataclass

EMBEDDING = "embedding"
"""The matcher that takes embeddings, and the role in which minds ask a model for them."""


@dataclass(frozen=True, slots=True)
class Offer:
    """What an agent can do, or can tell: the key of DyTopo.

    Attributes:
        text: in its words.
        tasks: what it is about, by the names that the world gives them.
        free: whether the agent is free to do something for others.
    """

    text: str
    tasks: tuple[str, ...] = ()
    free: bool = True

    @property
    def words(self) -> str:
        """Its text and the names of its tasks, as one text."""
        return " ".join((self.text, *self.tasks)).strip()


@dataclass(frozen=True, slots=True)
class Need:
    """What an agent lacks, or wants to know: the query of DyTopo.

    Attributes:
        text: in its words.
        tasks: what it is about, by the names that the world gives them.
    """

    text: str
    tasks: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """Its text and the names of its tasks, as one text."""
        return " ".join((self.text, *self.tasks)).strip()


@dataclass(frozen=True, slots=True)
class Descriptor:
    """What an agent offers and needs in a round.

    Attributes:
        offers: what it offers.
        needs: what it needs.
        offered: the embedding of the offer, where the topology matches by embeddings; empty for one without words.
        needed: the embedding of the need.
    """

    offers: Offer
    needs: Need
    offered: tuple[float, ...] = ()
    needed: tuple[float, ...] = ()


Edge = tuple[int, int]
"""Who writes to whom: the index of the sender, and that of the recipient."""


@dataclass(frozen=True, slots=True)
class Affinity:
    """How well offers answer needs: all that a topology sees of descriptors.

    Attributes:
        agents: those who have said what they offer and need, ascending.
        scores: `scores[i][j]`, from 0 to 1, how well `agents[j]` offers what `agents[i]` needs; 0 on the diagonal.
    """

    agents: tuple[int, ...]
    scores: tuple[tuple[float, ...], ...]

    def of(self, sender: int, recipient: int) -> float:
        """Return how well an agent offers what another one needs."""
        return self.scores[self.agents.index(recipient)][self.agents.index(sender)]
