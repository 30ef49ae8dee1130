"""The contract of a verb, and the registry of verbs: those of the core, and those found by entry points.

A satellite, or an installed package of your own, declares its verbs in the entry-point group `quorum.verbs`. The name
of the entry point is the verb's name, and the entry point resolves to a `Verb`. See docs/writing-a-verb.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from maeil.registry import Registry


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb of the command.

    Attributes:
        function: runs the verb. Typer turns its signature and docstring into a command; the list of verbs shows the
            first line of the docstring.
        heading: the heading under which `quorum --help` lists it; empty: the help does not list it.
        place: its place under the heading: verbs with smaller numbers come first.
        example: a command line for `quorum --help`.
        completions: returns the choices for the first argument, each with a description.
    """

    function: Callable[..., None]
    heading: str = ""
    place: int = 100
    example: str = ""
    completions: Callable[[], Iterable[tuple[str, str]]] | None = None

    @property
    def short_help(self) -> str:
        """What the list of verbs says about it."""
        return (self.function.__doc__ or "").partition("\n")[0]


_HERE = "quorum.experiments.verbs"
CORE = {
    "run": f"{_HERE}.run:verb",
    "sweep": f"{_HERE}.sweep:verb",
    "results": f"{_HERE}.results:verb",
    "show": f"{_HERE}.show:verb",
    "show prompt": f"{_HERE}.show:prompt_verb",
    "compare": f"{_HERE}.compare:verb",
    "report": f"{_HERE}.report:verb",
    "list": f"{_HERE}.listing:verb",
    "new": f"{_HERE}.new:verb",
    "check": f"{_HERE}.check:verb",
    "cache": f"{_HERE}.cache:verb",
    "completion": f"{_HERE}.completion:verb",
    "complete": f"{_HERE}.completion:complete_verb",
    "serve-simulated": f"{_HERE}.serve_simulated:verb",
}
"""The verbs of the core by name, written like entry points, so that a command imports only its own verb."""

VERBS: Registry[Verb] = Registry("verb", "verbs", "", "quorum.verbs", CORE, lambda: Verb)
"""All verbs. A verb with two words, such as `show prompt`, runs when the second word follows the first."""
