"""A folder of templates of one's own: laid out like the shipped one, or flat; never silently without effect."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from quorum.agents.prompting.templates import SHIPPED, Templates

PARTS = {"rules": "rules.jinja", "system": "system.jinja"}


def read(world: str, own: Path, **kinds: tuple[str, ...]) -> Templates:
    return Templates(world, SHIPPED / world, PARTS, own=str(own), **kinds)


def written(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    return folder


def test_a_folder_that_mirrors_the_shipped_one_has_rules_for_each_world(tmp_path: Path) -> None:
    own = written(tmp_path, "cube/rules.jinja", "crafter/rules.jinja")
    assert [read(world, own).find("rules").render() for world in ("cube", "crafter")] == [
        "cube/rules.jinja",
        "crafter/rules.jinja",
    ]


def test_a_copy_of_the_shipped_folder_takes_the_place_of_all_of_it(tmp_path: Path) -> None:
    own = shutil.copytree(SHIPPED, tmp_path / "mine")
    for kinds in ((), ("llamac", "roles")):
        found = read("cube", own, kinds=kinds).sources
        assert found
        assert all(name.startswith("prompts.folder/") for name in found)


@pytest.mark.parametrize(
    ("names", "taken"),
    [
        (("rules.jinja",), "rules.jinja"),
        (("cube/rules.jinja", "rules.jinja"), "cube/rules.jinja"),
        (("rules.jinja", "common/rules.jinja"), "rules.jinja"),
    ],
)
def test_what_is_for_one_world_comes_before_what_is_for_all(names: tuple[str, ...], taken: str, tmp_path: Path) -> None:
    assert read("cube", written(tmp_path, *names)).find("rules").render() == taken


def test_the_shipped_rules_of_a_world_come_before_common_ones_of_ones_own(tmp_path: Path) -> None:
    own = written(tmp_path, "common/rules.jinja", "common/system.jinja")
    found = read("cube", own)
    assert "prompts/cube/rules.jinja" in found.sources
    assert found.find("system").render() == "common/system.jinja"


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"prompts.folder: .*nowhere: there is no such folder"):
        read("cube", tmp_path / "nowhere")


@pytest.mark.parametrize("name", ["rule.jinja", "crafter/rules.jinja", "cubes/rules.jinja", "llamac/actor.jinja"])
def test_a_folder_of_which_nothing_is_used_is_refused_with_what_it_may_hold(name: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"contains no template used here. It may contain .*cube/rules.jinja"):
        read("cube", written(tmp_path, name))


def test_a_template_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "rules.jinja").write_bytes(b"\xff\xfe")
    with pytest.raises(ValueError, match=r"'rules.jinja' in .* cannot be read"):
        read("cube", tmp_path)
