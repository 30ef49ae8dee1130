"""A template gives what Hydra gives: the same configuration, and for a mistake the same message."""

from __future__ import annotations

from functools import cache
from itertools import combinations_with_replacement, islice, permutations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import quorum.configuration.compose as composing
from quorum.configuration.cell import Cell
from quorum.configuration.compose import Composer
from quorum.configuration.overrides import parse
from quorum.sweeps.grid import axes, points
from quorum_base.user_errors import UserError
from tests.composing import compose
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

GIVEN = [
    "",
    "n=3 seed=7 max_steps=12",
    "env.side=20 env=cube_coop2",
    "n=2 env.blocks={1: 2} env.layout=null",
    "env.side=${n} n=30",
    "max_repairs=${n} n=5 agents=naive topology=debate topology.rounds=2",
    "+env.blocks.4=1 n=3",
    "~max_repairs n=2",
    "llm=openai llm.model=m llm.fallback=[{preset: groq, model: x}]",
    "agents.members.agent_1=heuristic agents=naive agents.repairs=1 n=3",
    "agents.members.agent_1=naive agents.members.agent_1.repairs=1 agents.leader.prompts=terse agents.leader=naive",
    "agents=naive agents.members.agent_0.prompts=terse llm.agents.agent_0.temperature=0.5",
    "llm.name=openai llm.agents.agent_0={name: openai, model: m}",
    "memory={messages: 3}",
    "env=crafter_coop n=4 env.name='crafter' budget.usd=1.5",
]
REFUSED = [
    "+env.blocks.4=1 env.blocks={1: 5}",
    "~prompts.folder prompts=terse",
    "n=???",
    "enviroment=cube",
    "topology=debat",
    "env.sid=3 n=2",
    "n.m=2",
    "env.side=${nothing}",
    "+env=cube",
    "env=[cube]",
    "~env.nothing n=3",
    "engine=local",
    "llm=openai seed=1",
    "agents.members.agent_0=planer",
    "llm=openai llm.model=m llm.fallback=[{preset: grok}]",
    "llm.agents.agent_0.temperature=0.5 agents=naive agents.prompts.turn=mine.jinja",
]


def _outcome(compose_: Any) -> object:
    try:
        return compose_()
    except UserError as error:
        return str(error)


@pytest.mark.parametrize("words", GIVEN + REFUSED)
def test_a_template_gives_what_hydra_gives(words: str) -> None:
    overrides = parse(_split(words))
    by_template = _outcome(lambda: Composer().compose(overrides))
    assert by_template == _outcome(lambda: Composer().by_hydra(overrides))
    assert isinstance(by_template, str) == (words in REFUSED)


def _split(words: str) -> list[str]:
    """Split at the blanks before keys: values hold blanks too."""
    found: list[str] = []
    for word in words.split():
        if found and "=" not in word and not word.startswith("~"):
            found[-1] += f" {word}"
        else:
            found.append(word)
    return found


@pytest.mark.conformance
@settings(phases=[Phase.explicit, Phase.reuse, Phase.generate], max_examples=25)
@given(WORDS)
def test_every_point_of_a_grid_is_what_hydra_gives(words: list[str]) -> None:
    composer = Composer()
    for point in islice(points(axes(words, composer)), 3):
        by_template = _outcome(lambda point=point: composer.compose(point))
        lines = [override.input_line for override in point]
        by_hydra = _by_hydra(*lines)
        if by_template != by_hydra:  # of several mistakes under the chosen options, either may be the one that is named
            chosen = {index for index, override in enumerate(point) if override.key_or_group in composer.groups}
            pairs = combinations_with_replacement(range(len(point)), 2)
            parts = [[lines[index] for index in sorted(chosen.union(pair))] for pair in pairs]
            assert isinstance(by_template, str)
            assert any(_by_hydra(*part) == by_template for part in parts)
            assert any(_by_hydra(*part) == by_hydra for part in parts)


@cache
def _by_hydra(*lines: str) -> object:
    """Return what Hydra makes of some words: it takes most of a second, and the drawn lists share many words."""
    return _outcome(lambda: Composer().by_hydra(parse(lines)))


def test_arms_do_not_see_each_others_values() -> None:
    composer = Composer()
    first, second = (next(points(axes(words, composer))) for words in (["llm.poor=0.5", "n=3"], ["n=3"]))
    assert (composer.compose(first)["llm"]["poor"], composer.compose(second)["llm"]["poor"]) == (0.5, 0.0)


def test_a_mind_and_its_values_are_given_in_any_order() -> None:
    words = ["agents.members.agent_0=naive", "agents.members.agent_0.repairs=1", "agents.members.agent_0.max_actions=2"]
    (mind,) = {str(compose(list(order))["agents"]["members"]["agent_0"]) for order in permutations(words)}
    alone = compose(words[:1])["agents"]["members"]["agent_0"]
    assert mind == str({**alone, "repairs": 1, "max_actions": 2})


def test_options_of_a_folder_of_the_user_are_found() -> None:
    assert compose(["env=corridor", "agents=walker", "n=5"], PLUGINS / "corridor_configs")["env"]["n"] == 5


def test_an_edited_file_is_seen(tmp_path: Path) -> None:
    file = tmp_path / "clock" / "mine.yaml"
    file.parent.mkdir()
    found = []
    for delivery in (0.25, 0.75):
        file.write_text(f"defaults:\n  - fixed@_here_\n  - _self_\ndelivery: {delivery}\n")
        found.append(compose(["clock=mine"], tmp_path)["clock"]["delivery"])
    assert found == [0.25, 0.75]


def test_hydra_composes_once_for_values_of_known_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    compose(["env=cube_coop2"])
    monkeypatch.setattr(composing, "_composed", lambda *_: pytest.fail("Hydra composes again"))
    assert compose(["env=cube_coop2", "seed=3", "n=4"])["seed"] == 3


def test_what_is_composed_can_be_changed() -> None:
    Cell.compose(["n=2"]).plain["env"].clear()
    assert Cell.compose(["n=2"]).plain["env"]


def test_what_was_composed_for_the_engine_is_not_taken_for_a_cell() -> None:
    composer = Composer()
    assert composer.of_group("engine", parse(["engine=local", "engine.workers=3"]))["workers"] == 3
    with pytest.raises(UserError, match="engine: this belongs to a sweep"):
        composer.compose(parse(["+engine=local"]))


def test_a_value_that_an_option_lacks_is_filled_in_before_the_template_is_resolved() -> None:
    """Not by Hydra, which could not read back how it writes some texts itself, such as this one."""
    [axis] = axes(['extension.control.donors=choice("/my runs, (all) of \\"them\\"")'], Composer())
    composed = Composer().compose([*parse(["extension=shuffled"]), *axis.values])
    assert composed["extension"]["control"]["donors"] == '/my runs, (all) of "them"'


@pytest.mark.parametrize("words", ["n=choice(2,'2')", "n=choice('2',2)", "max_steps=choice(5,'5')"])
def test_a_number_and_a_text_of_a_sweep_stay_apart_though_hydra_writes_them_alike(words: str) -> None:
    composer, [axis] = Composer(), axes([words], Composer())
    found = [composer.compose([value])[axis.key] for value in axis.values]
    assert [(type(value), value) for value in found] == [(type(one.value()), one.value()) for one in axis.values]
