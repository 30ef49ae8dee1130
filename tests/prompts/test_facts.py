"""Rules that know the configuration: `facts` in templates, the same for all teams and boards of a sweep."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from maeil.testing import BrokenContract, check_world
from quorum.agents.naive import render_prompt
from quorum.configuration.cell import Cell
from quorum_base.user_errors import UserError
from tests.agents.naive_team import config, context, cube, topology, view
from tests.crafter_env.joined import world as crafter
from tests.lbf_env.test_foraging_world import world as foraging
from tests.llamac_env.test_squeeze import world as squeeze
from tests.llamac_env.test_transport_world import world as transport
from tests.overcooked_env.test_overcooked_world import world as overcooked

WORLDS = {
    "cube": cube,
    "crafter": crafter,
    "transport": transport,
    "squeeze": squeeze,
    "foraging": foraging,
    "overcooked": overcooked,
}


@pytest.mark.parametrize("name", WORLDS)
def test_facts_are_json_ready_and_the_same_for_every_team_and_every_board(name: str) -> None:
    found = []
    for n in (2,) if name == "overcooked" else (1, 2, 4, 8, 32):  # a layout has one size of a team
        world: Any = WORLDS[name](n=n)
        assert world.prompt_facts()
        for seed in (1, 2):
            world.reset(seed)
            found.append(orjson.dumps(world.prompt_facts()))
    assert len(set(found)) == 1


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("cube", {"vocabulary": "emcoop"}),
        ("crafter", {"level": "hard"}),
        ("crafter", {"switches": {"mobs": True}}),
        ("crafter", {"goal": "collect:iron"}),
        ("transport", {"difficulty": "hard"}),
        ("transport", {"view": "board"}),
        ("squeeze", {"hint": True}),
        ("foraging", {"sight": 2}),
        ("foraging", {"penalty": 0.1}),
        ("overcooked", {"soups": None}),
        ("overcooked", {"layout": "cramped_room_tomato"}),
    ],
)
def test_facts_differ_where_rules_do(name: str, changes: dict[str, Any]) -> None:
    one, other = WORLDS[name](n=2), WORLDS[name](n=2, **changes)
    assert one.prompt_facts() != other.prompt_facts()


def system_message(world: Any, rules: str, folder: Path) -> str:
    (folder / "rules.jinja").write_text(rules)
    own = config("default")
    own = own.model_copy(update={"prompts": own.prompts.model_copy(update={"folder": str(folder)})})
    return render_prompt(own, context(world, topology("individual", 2)), view(world))[0].content


def test_rules_of_ones_own_tell_what_holds_on_this_configuration_alone(tmp_path: Path) -> None:
    rules = "Boxes stand {{ 'in cells' if facts.difficulty == 'easy' else 'on corners' }}."
    assert "Boxes stand in cells." in system_message(transport(n=2, difficulty="easy"), rules, tmp_path)
    assert "Boxes stand on corners." in system_message(transport(n=2, difficulty="hard"), rules, tmp_path)


def test_a_fact_that_the_world_does_not_tell_is_an_error_of_one_line_with_its_place(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no attribute 'colour' \(.*/rules.jinja:2\)$") as error:
        system_message(transport(n=2), "Rules.\n{{ facts.colour }}", tmp_path)
    assert "\n" not in str(error.value)


def test_a_world_whose_facts_follow_the_board_breaks_its_contract(monkeypatch: pytest.MonkeyPatch) -> None:
    world = squeeze(n=2, rho=None)
    monkeypatch.setattr(type(world), "prompt_facts", lambda self: {"rho": self.env.game.rho})
    with pytest.raises(BrokenContract, match=r"prompt_facts\(\) depend on the configuration alone"):
        check_world(world, seeds=(0, 3), steps=2)


@pytest.mark.parametrize("hint", [False, True])
def test_the_squeeze_is_blind_unless_it_has_a_hint(hint: bool) -> None:
    assert not Cell.compose(["env=squeeze"]).configuration.env.hint
    world = squeeze(n=3, hint=hint)
    world.reset(1)
    given = render_prompt(config(), context(world, topology("individual", 3)), view(world))
    text = " ".join(message.content for message in given) + world.observe(0).text()
    assert ("peak" in text) is hint
