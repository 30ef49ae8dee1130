from __future__ import annotations

from itertools import islice

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from maeil.user_errors import UserError
from quorum.experiments.configuration.compose import compose, session
from quorum.experiments.sweep.grid import axes, points
from quorum.experiments.sweep.templates import Templates
from tests.conftest import PLUGINS

WORDS = st.lists(
    st.sampled_from(
        [
            "n=2,3", "seed=range(0,3)", "max_steps=40,50", "max_repairs=0,1", "max_repairs=${n}",
            "agents.max_actions=3,4", "env=cube,cube_coop2", "env.side=null,20", "env.side=${n},30",
            "env.blocks={1: 2},{2: 1}", "env.blocks={1: 5}",
            "env.layout=two_teams,null", "topology=debate,chain", "agents=naive,heuristic", "topology.rounds=1,2",
            "prompts=default,terse", "prompts.folder=my_prompts", "agents.repairs=1", "agents=naive", "topology=debate",
            "llm.agents.agent_0.temperature=0.5,1", "+env.blocks.4=1", "memory={messages: 3}", "memory.messages=4,5",
            "~prompts.folder", "env.name='cube'", "clock=fixed,tokens", "clock.delivery=0,0.5", "llm.seed=${seed}",
            "budget.usd=1,null", "agents.prompts.turn=mine.jinja",
        ]
    ),
    max_size=6, unique_by=lambda word: word.lstrip("~").partition("=")[0],
)  # fmt: skip


def _outcome(function):
    """Give what a function returns; of several mistakes, which one is told does not matter."""
    try:
        return function()
    except UserError:
        return "refused"


@settings(max_examples=10, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(WORDS)
def test_every_point_is_as_if_it_were_composed_by_itself(words: list[str]) -> None:
    with session() as composing:
        templates = Templates(composing)
        grid = axes(words, composing)
        for point in islice(points(grid), 3):
            assert _outcome(lambda p=point: templates.resolve(p)) == _outcome(lambda p=point: composing.plain(p))


def test_a_point_of_a_grid_is_what_one_run_would_compose() -> None:
    with session() as composing:
        (point,) = points(axes(["n=3", "topology=debate", "env.blocks={1: 2}", "llm.agents.agent_0.seed=4"], composing))
        resolved = Templates(composing).resolve(point)
    assert resolved == compose(["n=3", "topology=debate", "env.blocks={1: 2}", "llm.agents.agent_0.seed=4"])


def test_arms_do_not_see_each_others_values() -> None:
    with session() as composing:
        templates = Templates(composing)
        first, second = (next(points(axes(words, composing))) for words in (["llm.poor=0.5", "n=3"], ["n=3"]))
        assert (templates.resolve(first)["llm"]["poor"], templates.resolve(second)["llm"]["poor"]) == (0.5, 0.0)


def test_options_of_a_folder_of_the_user_are_found() -> None:
    with session(PLUGINS / "corridor_configs") as composing:
        (point,) = points(axes(["env=corridor", "agents=walker", "n=5"], composing))
        assert Templates(composing).resolve(point)["env"]["n"] == 5


@pytest.mark.parametrize("word", ["enviroment=cube", "topology=debat", "env.sid=3", "n.m=2"])
def test_what_does_not_exist_is_named(word: str) -> None:
    with session() as composing, pytest.raises(UserError, match=r"there is no|is a single value"):
        Templates(composing).resolve(next(points(axes([word], composing))))
