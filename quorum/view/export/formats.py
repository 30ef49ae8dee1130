r"""The formats of `quorum export`: those of this satellite, of others, and of installed packages.

The group `exports` of a `components.json`, or an entry point of the group `quorum.exports`, names a function. Its
keyword arguments are the options of the verb that the format takes, and its docstring is part of the help. It returns
a `Format`, or, instead, an `Estimate` if the options ask for one. The help of the command imports it, so it should
import its dependencies only when called.

Example:
    ```python
    def names(*, longest: Annotated[int, value("--longest", "SIZE", "Cut longer names.", min=1)] = 40) -> Any:
        "--to names writes the names of the runs."
        return Names(longest)


    class Names:
        FILES = ("names.txt",)
        TEXTS = False

        def __init__(self, longest: int) -> None:
            self.longest = longest

        def write(self, runs: Any, folder: Path) -> None:
            (folder / "names.txt").write_text("\n".join(row.name[: self.longest] for row in runs.rows))
    ```
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from quorum_base.registry import Registry
from quorum_base.user_errors import UserError, choices_hint

if TYPE_CHECKING:
    from pathlib import Path

    from quorum.view.export.episodes import Runs


class Format(Protocol):
    """A format of another tool, such as a module."""

    FILES: tuple[str, ...]
    """Names of its files; empty: one file for each run. Several files are written into a separate folder."""
    TEXTS: bool
    """Whether it is made of prompts and answers: then they are included without `--calls`."""

    def write(self, runs: Runs, folder: Path) -> None:
        """Write the files into an empty folder.

        Raises:
            UserError: a run cannot be read, or has nothing to export.
        """


@runtime_checkable
class Estimate(Protocol):
    """What an export would take."""

    def estimate(self, runs: Runs) -> Mapping[str, Any]:
        """Return the amounts by name, JSON-ready, and write nothing."""


EXPORTS: Registry[Callable[..., Format | Estimate]] = Registry(
    "export format", "export formats", "", "quorum.exports", lambda: FunctionType
)
"""All formats, by the names that `--to` takes."""


def chosen(name: str, options: Mapping[str, Any]) -> Format | Estimate:
    """Return a format with its options.

    Args:
        name: its name.
        options: options of the verb that only some formats take, by parameter name; those that this format does not
            take must have their default values.

    Raises:
        UserError: there is no such format, or it does not take an option.
    """
    if name not in EXPORTS.names():
        raise UserError(f"--to {name}: there is no such format", choices_hint(name, "Formats", EXPORTS.names()))
    takes = {each: inspect.signature(EXPORTS.get(each)).parameters for each in EXPORTS.names()}
    for option in options.keys() - takes[name].keys():
        others = [each for each, parameters in takes.items() if option in parameters]
        if options[option] != (takes[others[0]][option].default if others else None):
            raise UserError(
                f"--{option.replace('_', '-')}: --to {name} does not take this option",
                f"Leave it out{', or choose another format: ' if others else ''}{', '.join(others)}.",
            )
    return EXPORTS.get(name)(**{option: value for option, value in options.items() if option in takes[name]})
