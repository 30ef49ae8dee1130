"""The contract of a verb, and the registry of verbs: those of the core, of satellites, and of installed packages.

The core and the satellites list their verbs in `components.json`, under the group `verbs`. An installed package
declares its own in the entry-point group `quorum.verbs`. The name of the entry point is the verb's name, and the entry
point resolves to a `Verb`. See docs/writing-a-verb.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from quorum_base.registry import Registry


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb of the command.

    Attributes:
        function: runs the verb. Typer turns its signature and docstring into a command; the list of verbs shows the
            first line of the docstring.
        heading: the heading under which `quorum --help` lists it; empty: the help does not list it.
        place: its place under the heading: verbs with smaller numbers come first.
        completions: returns the choices for the first argument, each with a description.
    """

    function: Callable[..., None]
    heading: str = ""
    place: int = 100
    completions: Callable[[], Iterable[tuple[str, str]]] | None = None

    @property
    def short_help(self) -> str:
        """Its description in the list of verbs."""
        return (self.function.__doc__ or "").partition("\n")[0]


VERBS: Registry[Verb] = Registry("verb", "verbs", "", "quorum.verbs", lambda: Verb)
"""All verbs. A verb with two words, such as `show prompt`, runs when the second word follows the first."""
