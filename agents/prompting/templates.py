"""Jinja templates of prompts: where they are, and how they are found and read."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from jinja2 import FileSystemLoader, StrictUndefined, Template, TemplateError, TemplateNotFound
from jinja2.sandbox import ImmutableSandboxedEnvironment

from quorum.agents.prompting.blocks import write_json

SHIPPED = Path(__file__).resolve().parents[2] / "prompts"
"""Where the templates of this project are."""

_log = logging.getLogger(__name__)


class Templates:
    """The templates of a team's prompts, by name.

    A name is looked for in the user's own folder and the shipped one of each kind, then in the user's own folder, in
    that of the world, and in `prompts/common/`.

    Args:
        world: name of the world.
        world_folder: where the world's own templates are; it need not be there.
        own: a folder of templates that come before the shipped ones; None: none.
        kinds: names of folders for sets of roles (`llamac`), most special first.
    """

    def __init__(self, world: str, world_folder: Path, *, own: str | None, kinds: Sequence[str] = ()) -> None:
        owned = [Path(own)] if own is not None else []
        of_kinds = [place / kind for kind in kinds for place in (*owned, SHIPPED)]
        self._places = tuple(place.absolute() for place in (*of_kinds, *owned, world_folder, SHIPPED / "common"))
        self._world = world
        self._environment = _environment(self._places)

    def find(self, part: str, name: str) -> Template:
        """Find a template.

        Args:
            part: what it is for, as messages call it.
            name: of its file.

        Raises:
            ValueError: it is not there, or cannot be read.
        """
        try:
            template = self._environment.get_template(name)
        except TemplateNotFound:
            where = ", ".join(map(str, self._places))
            raise ValueError(
                f"prompts: there is no template {name!r} ({part}) for the world '{self._world}' in {where}"
            ) from None
        except TemplateError as error:
            raise ValueError(f"prompts: the template {name!r} ({part}) cannot be read: {error}") from error
        if part == "rules" and template.filename == str(SHIPPED / "common" / name):
            _warn_of_unwritten_rules(self._world)
        return template


@cache
def _environment(places: tuple[Path, ...]) -> ImmutableSandboxedEnvironment:
    """Return what reads templates, once for all teams of a process: compiling one takes longer than filling it in."""
    environment = ImmutableSandboxedEnvironment(
        loader=FileSystemLoader(places),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
        autoescape=False,  # prompts are plain text; what others wrote is escaped as JSON
    )
    environment.filters["json"] = write_json
    return environment


@cache
def _warn_of_unwritten_rules(world: str) -> None:
    """Warn once a process, however many teams are built."""
    _log.warning(
        "nobody has written down the rules of the world '%s' for a prompt; agents are told so. "
        "Write a rules.jinja: docs/writing-a-world.md",
        world,
    )
