"""Parses `KEY=VALUE` arguments in Hydra's override grammar, and checks them before anything is composed."""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import ChoiceSweep, IntervalSweep, RangeSweep
from hydra.errors import HydraException

from quorum.configuration.hints import usual_words
from quorum.configuration.secrets import refuse_secret_argument
from quorum_base.forks import hold_in_forks
from quorum_base.user_errors import UserError

if TYPE_CHECKING:
    from hydra.core.override_parser.types import Override


_NULL_OPTION = re.compile(r"(?<=[=,\[ ])null(?=[,\] ]|$)")
"""The name of the option `extension=null`, which Hydra's grammar reads as the value null unless it is quoted."""

EXPERIMENT_FILES = (".yaml", ".yml")
"""Endings of files with an experiment, which `quorum sweep` takes among its arguments."""
HYDRA = hold_in_forks(threading.RLock())
"""Held by the thread that composes, because Hydra, its parser and our templates keep global state."""


def parse(arguments: Sequence[str], *, single: bool = False) -> list[Override]:
    """Parse the arguments.

    Args:
        arguments: `KEY=VALUE` each.
        single: whether each must give one value.

    Raises:
        UserError: an argument is not an override, or not allowed here; two set the same key; or one is a provider's API
            key.
    """
    parser = OverridesParser.create()
    overrides: dict[str, Override] = {}
    for argument in arguments:
        refuse_secret_argument(argument)
        if argument.startswith("extension="):
            argument = _NULL_OPTION.sub('"null"', argument)  # noqa: PLW2901
        if "=" not in argument and not argument.startswith("~"):
            raise UserError(f"{argument!r} is not KEY=VALUE", _instead(argument, arguments))
        try:
            with HYDRA:
                override = parser.parse_override(argument)
        except HydraException as error:
            raise UserError(f"{argument!r} cannot be read: {_reason(error)}", _quoting(argument)) from error
        _refuse(override, argument, single=single)
        key = override.key_or_group
        if key in overrides:  # either value may be meant
            both = f"{overrides[key].input_line} and {override.input_line}"
            raise UserError(f"{key} is given twice: {both}", "Leave one of them out.")
        overrides[key] = override
    return list(overrides.values())


def _refuse(override: Override, argument: str, *, single: bool) -> None:
    key = override.key_or_group
    if not key:
        raise UserError(f"{argument!r} has no key before the '='", "For example: quorum run n=8 seed=3")
    if key.split(".")[0].split("/")[0] == "hydra":
        raise UserError(f"{key}: Hydra's own settings have no effect here", "See --out, --config-dir and --plugin.")
    if override.package is not None:
        raise UserError(f"{key}@{override.package}: a group has a fixed place; write {key}=OPTION")
    value = override.value()
    if isinstance(value, IntervalSweep):
        raise UserError(
            f"{key}: interval() gives no list of values to run", "Write them out, or use range(start,stop,step)."
        )
    if isinstance(value, ChoiceSweep | RangeSweep) and value.shuffle:
        raise UserError(
            f"{key}: shuffle() draws without a seed, so the same command would differ from call to call",
            "Leave it out: the order of the values does not change the results.",
        )
    if single and override.is_sweep_override():
        key, _, values = argument.partition("=")
        raise UserError(
            f"{key}: an episode takes one value, but {values!r} gives several",
            f"`quorum sweep` runs once for each value. Write a list in brackets, {key}=[a,b], "
            f"and text with commas in quotes, '{key}=\"a,b\"'.",
        )


def _reason(error: HydraException) -> str:
    """Return the line of Hydra's message that states the problem, without parser tokens."""
    lines = [line for line in str(error).splitlines() if line.strip() and not line.startswith("See https")]
    lines = [line for line in lines if not line.startswith("Error parsing override")] or lines
    if "recognition error" in lines[0] or "expecting" in lines[0] or "no viable" in lines[0]:
        return "a quote or a bracket is left open, or a special character is outside quotes"
    return lines[0].partition("while evaluating ")[2] or lines[0]


def _instead(word: str, words: Sequence[str]) -> str:
    if "=" in words:
        return f"Leave out the spaces: {word}=VALUE."
    if word.endswith(EXPERIMENT_FILES):
        return f"A sweep takes the file of an experiment: quorum sweep {word}"
    words = usual_words("", word)
    return f"Write {words}." if words else "For example: quorum run n=8 seed=3"


def _quoting(argument: str) -> str:
    key = argument.partition("=")[0].strip() or "key"
    return f"Write one KEY=VALUE per argument, and put values with special characters in quotes: '{key}=\"a: b, c\"'."
