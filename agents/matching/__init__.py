"""How needs are held against offers (DyTopo, arXiv 2602.06039): the matchers, by the names of `topology.matcher`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from maeil.descriptors import EMBEDDING, Matcher
from quorum.agents.matching.embedding import EmbeddingMatcher
from quorum.agents.matching.lexical import LexicalMatcher
from quorum.agents.matching.typed import TypedMatcher

MATCHERS: Mapping[str, Callable[[], Matcher]] = {
    "typed": TypedMatcher,
    "lexical": LexicalMatcher,
    EMBEDDING: EmbeddingMatcher,
}
"""What makes each matcher."""

__all__ = ["MATCHERS", "EmbeddingMatcher", "LexicalMatcher", "TypedMatcher"]
