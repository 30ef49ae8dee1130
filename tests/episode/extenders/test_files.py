"""A mistake in a template of one's own, or in a file of values, is one message with its file and line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.episode.extenders.conftest import Typed, assert_reported, write
from tests.episode.extenders.test_components import WORDS

_PROMPTS = "n=2 agents=naive max_steps=2 prompts.folder=words"
_UNKNOWN = "Push.\n{{ fact.faces }} {# HERE #}\n"

TEMPLATES = {
    "a syntax error": ("Push.\n{% if facts %}\nmore\n{% endfor %} {# HERE #}\n", "Encountered unknown tag 'endfor'"),
    "an unknown name": (_UNKNOWN, "'fact' is undefined. Did you mean 'facts' or"),
    "an unknown fact": ("Push.\n\n{{ facts.face }} {# HERE #}\n", "has no attribute 'face'. Did you mean 'faces' or"),
    "an unknown filter": ("{{ facts.faces | shout }} {# HERE #}\n", "No filter named 'shout'"),
    "a template that is not there": ("Push.\n{% include 'more.jinja' %} {# HERE #}\n", "no template 'more.jinja'"),
}
VALUES = {
    "a list that does not end": (
        "# Mine.\nname: mine\nmore: [1, 2\nother: 3  # HERE\n",
        "it is not valid YAML: did not find expected ','",
    ),
    "a tab": ("# Mine.\nname: mine\n\tmore: 1  # HERE\n", "Indent with spaces: YAML does not allow tabs."),
    "a key twice": ("# Mine.\nname: mine\nname: other  # HERE\n", "found duplicate key name"),
    "a list": ("- mine  # HERE\n", "it contains a list; an option file must contain keys"),
    "nothing": ("# Mine.  # HERE\n", "it contains nothing"),
    "what is no text": ("# Mine.\nname: \x00  # HERE\n", "it is not UTF-8 text"),
}


@pytest.mark.parametrize("mistake", TEMPLATES)
def test_a_template_is_reported_before_anything_is_asked(typed: Typed, tmp_path: Path, mistake: str) -> None:
    text, reported = TEMPLATES[mistake]
    files = {"words/cube/rules.jinja": text}
    write(tmp_path, files)
    assert_reported(typed(f"run {_PROMPTS}"), files, (reported,), 2)
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize("verb", ["show prompt", "sweep seed=0,1", "check"])
def test_a_template_ends_every_command_that_fills_it_in(typed: Typed, tmp_path: Path, verb: str) -> None:
    files = {"words/cube/rules.jinja": _UNKNOWN}
    write(tmp_path, files)
    assert_reported(
        typed(f"{verb} {_PROMPTS}"), {} if verb == "check" else files, ("'fact' is",), 1 if verb == "check" else 2
    )
    assert not (tmp_path / "runs").exists()


def test_a_template_that_is_wrong_in_a_later_turn_ends_the_episode(typed: Typed, tmp_path: Path) -> None:
    files = {"words/common/turn.jinja": "{% if blocks.past_plans is defined %}\n{{ fact }} {# HERE #}\n{% endif %}\n"}
    write(tmp_path, files)
    assert_reported(
        typed(f"run {_PROMPTS.replace('max_steps=2', 'max_steps=9')}"),
        files,
        ("'fact' is undefined", "The episode has failed"),
        1,
    )
    (folder,) = (tmp_path / "runs").iterdir()
    assert ".partial" not in folder.name


@pytest.mark.parametrize("mistake", VALUES)
def test_a_file_of_values_is_reported_before_anything_is_composed(typed: Typed, tmp_path: Path, mistake: str) -> None:
    text, reported = VALUES[mistake]
    files = {"configs/agents/mine.yaml": text}
    write(tmp_path, files)
    for verb in ("run", "sweep"):
        assert_reported(typed(f"{verb} {WORDS}"), files, (reported,), 2)
    assert not (tmp_path / "runs").exists()


def test_a_file_of_values_that_another_includes_is_reported_too(typed: Typed, tmp_path: Path) -> None:
    files = {
        "configs/agents/mine.yaml": "# Mine.\ndefaults:\n  - usual@_here_\n  - _self_\n\nname: mine\n",
        "configs/agents/usual.yaml": "# Usual.\nmore: [1\nother: 2\n: :  # HERE\n",
    }
    write(tmp_path, files)
    done = typed(f"show {WORDS}")
    assert done.code == 2
    assert "configs/agents/usual.yaml:3: it is not valid YAML" in done.err


def test_a_folder_with_a_broken_file_is_not_listed(typed: Typed, tmp_path: Path) -> None:
    files = {"configs/agents/mine.yaml": VALUES["a list that does not end"][0]}
    write(tmp_path, files)
    assert_reported(typed("list agents --config-dir configs"), files, ("it is not valid YAML",), 2)
