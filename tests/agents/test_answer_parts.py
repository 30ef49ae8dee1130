"""A method adds its part to an answer, and neither minds nor models know the method."""

from __future__ import annotations

import asyncio
import sys
import textwrap
from typing import Any, Literal

import pytest

from maeil.errors import InvalidThought
from quorum.agents.answer_parts import AnswerPart, answer_parts
from quorum.agents.llm.structured import Structuring
from quorum.agents.naive import build, render_prompt
from quorum.agents.naive.answers import AnswerTypes
from quorum.agents.simulated.model import SimulatedModel
from tests.agents.naive_team import config, context, cube, settings, topology, view


@pytest.fixture
def mood(monkeypatch: pytest.MonkeyPatch) -> AnswerPart:
    """The part that the contract shows as its example, registered for a test."""
    contract = sys.modules[AnswerPart.__module__].__doc__ or ""
    code = textwrap.dedent(contract[contract.index("    class Mood") : contract.index("The `components.json`")])
    found: dict[str, Any] = {"AnswerPart": AnswerPart, "Literal": Literal}
    exec(code, found)
    monkeypatch.setattr(answer_parts, "_registered", {"mood": found["part"]})
    return found["part"]  # type: ignore[no-any-return]


def test_the_example_of_the_contract_is_asked_for_answered_and_checked(mood: AnswerPart) -> None:
    world = cube(2)
    world.reset(1)
    asked = view(world, 0, (), asks=frozenset({"mood"}))
    team = context(world, topology("individual", 2), lambda _: Structuring(SimulatedModel(settings()), 1))
    assert asyncio.run(build(config(), team)[0].think(asked)).answers["mood"] in ("calm", "hurried")
    assert '"mood":"calm"' in render_prompt(config(), team, asked)[-1].content
    types = AnswerTypes(world.vocabulary, 8)
    assert types.keys(asked) == ("thoughts", "mood")
    assert types.read({"thoughts": "", "mood": "hurried"}, asked).answers == {mood.name: "hurried"}
    with pytest.raises(InvalidThought, match="mood: "):
        types.read({"thoughts": "", "mood": "angry"}, asked)


def test_a_team_whose_topology_does_not_ask_has_no_key_of_a_method(mood: AnswerPart) -> None:
    world = cube(2)
    world.reset(1)
    assert AnswerTypes(world.vocabulary, 8).wanted(view(world)).schema["properties"].keys() == {
        "thoughts",
        "messages",
        "plan",
        "decision",
    }
