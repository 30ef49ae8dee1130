"""What `--help` says: whole sentences with units and defaults, examples that can be typed, in 80 columns."""

from __future__ import annotations

import re
import runpy
import shlex
import sys

import pytest
from typer.core import TyperArgument, TyperOption
from typer.main import get_group

from quorum.cli import main
from quorum.verbs.app import _HEADINGS, VerbGroup, all_verbs, app, command_of

COMMAND = get_group(app)
assert isinstance(COMMAND, VerbGroup)
VERBS = {name: command_of(name) for name, verb in all_verbs().items() if verb.heading}
SUBCOMMANDS = {name: command_of(name) for name in all_verbs() if " " in name}
UNLISTED = {name: command_of(name) for name in ("completion", "serve-simulated")}
COMMANDS = VERBS | SUBCOMMANDS | UNLISTED
PARTS = {f"{name} {part.opts[0]}": part for name, verb in COMMANDS.items() for part in verb.params}
UNITS = {
    "BOARDS", "CALLS", "CELLS", "COLUMNS", "GRAPHS", "MIB", "PIXELS", "PORT", "RATE", "ROUNDS", "SAMPLES", "SECONDS",
    "SHARE", "SIZE", "STEP", "STEPS", "TOKENS", "USD",
}  # fmt: skip
SENTENCE = re.compile(r"([A-Z][^.]* (?:[^.]|\.\S)+\. ?)+")


def _help(name: str | None = None) -> str:
    with COMMAND.make_context("quorum", [], resilient_parsing=True, terminal_width=80) as top:
        if name is None:
            return COMMAND.get_help(top)
        with COMMANDS[name].make_context(name, [], top, resilient_parsing=True, terminal_width=80) as context:
            return COMMANDS[name].get_help(context)


def _examples(shown: str) -> list[str]:
    block = shown.partition("Examples:\n")[2].partition("\n\n")[0]
    return [line.strip() for line in block.splitlines()]


def test_every_argument_and_option_is_explained_in_whole_sentences() -> None:
    explained = {name: part.help or "" for name, part in PARTS.items() if isinstance(part, TyperArgument | TyperOption)}
    assert len(explained) == len(PARTS) > 100
    assert {name: text for name, text in explained.items() if not SENTENCE.fullmatch(text)} == {}


@pytest.mark.parametrize("text", ["", "a folder.", "The folder", "Folder.", "Runs a cell. and more.", "End it, etc"])
def test_less_than_a_sentence_is_found(text: str) -> None:
    assert not SENTENCE.fullmatch(text)


def test_the_command_can_be_held_in_the_head() -> None:
    assert len(VERBS) <= 20
    shown = {
        name: [part for part in verb.params if isinstance(part, TyperOption) and not part.hidden]
        for name, verb in COMMANDS.items()
    }
    # changes of a branch; cases of blame; plans and budgets of a study; and four options that stand for keys
    most = {"branch": 22, "blame": 19, "study": 23, "sweep": 22}
    assert {name: len(parts) + 1 for name, parts in shown.items() if len(parts) + 1 > most.get(name, 18)} == {}


def test_an_option_of_several_verbs_has_one_meaning() -> None:
    texts: dict[str, set[str]] = {}
    for name, part in PARTS.items():
        if isinstance(part, TyperOption):
            texts.setdefault(name.rpartition(" ")[2], set()).add(part.help or "")
    texts["--out"] = {text for text in texts["--out"] if "this file" not in text and "to this folder" not in text}
    del texts["--to"]  # a replay ends with a step, and an export is in a format
    del texts["--plan"]  # a study plans itself, and in a branch an agent plans
    assert {option: found for option, found in texts.items() if len(found) > 1} == {}


def test_the_help_groups_the_verbs_under_headings() -> None:
    lines = _help().splitlines()
    assert [line.removesuffix(":") for line in lines if line.removesuffix(":") in _HEADINGS] == list(_HEADINGS)
    assert [line.split()[0] for line in lines if line[:2] == "  " and line[2:].split(" ")[0] in VERBS] == list(VERBS)


def _options() -> dict[str, TyperOption]:
    """Return the options that take a value."""
    return {name: part for name, part in PARTS.items() if isinstance(part, TyperOption) and not part.is_flag}


def test_an_option_with_a_value_shows_its_default() -> None:
    known = {name: isinstance(part.show_default, str) or part.default is not None for name, part in _options().items()}
    assert {"run --budget-usd", "view --port"} <= known.keys()
    assert [name for name in known if not known[name]] == []


def test_an_option_that_takes_a_number_tells_its_unit() -> None:
    numbers = {name: part for name, part in _options().items() if part.type_descriptor.annotation in (int, float)}
    assert {"run --budget-usd", "sweep --limit", "replay --fps", "serve-simulated --latency"} <= numbers.keys()
    assert {name: part.metavar for name, part in numbers.items() if part.metavar not in UNITS} == {}


@pytest.mark.parametrize("name", [None, *COMMANDS])
def test_the_help_is_readable_in_a_terminal_of_80_columns(name: str | None) -> None:
    lines = _help(name).splitlines()
    assert [line for line in lines if len(line) > 80] == []
    assert [line for line in lines if line.endswith("...") and not line.startswith("Usage: ")] == [], (
        "a sentence is cut"
    )


def test_the_first_page_of_the_help_fits_40_lines_and_gives_each_verb_one() -> None:
    lines = _help().splitlines()
    assert len(lines) <= 40
    width = max(map(len, VERBS))
    for name, verb in VERBS.items():
        assert f"  {name.ljust(width)}  {all_verbs()[name].short_help}" in lines, verb


@pytest.mark.parametrize("name", [None, *COMMANDS])
def test_the_examples_can_be_typed(name: str | None) -> None:
    examples = _examples(_help(name))
    assert examples
    for line in examples:
        typed = line.removeprefix('eval "$(').removesuffix(')"').partition(" > ")[0]
        quorum, *words = shlex.split(typed)
        with COMMAND.make_context("quorum", words) as top:
            verb, command, rest = COMMAND.resolve_command(top, words)
        assert quorum == "quorum"
        assert name is None or verb == name or name in SUBCOMMANDS or verb in SUBCOMMANDS
        assert command is not None
        if "--help" not in rest:
            command.make_context(verb, rest)


@pytest.mark.parametrize("words", [["--help"], ["rum"]], ids=" ".join)
def test_python_m_quorum_is_the_same_command(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["a/__main__.py", *words])
    with pytest.raises(SystemExit) as as_module:
        runpy.run_module("quorum", run_name="__main__")
    printed = capsys.readouterr()
    with pytest.raises(SystemExit) as as_script:
        main()
    assert (as_module.value.code, printed) == (as_script.value.code, capsys.readouterr())
    assert "Usage: quorum [OPTIONS] COMMAND" in printed.out + printed.err
