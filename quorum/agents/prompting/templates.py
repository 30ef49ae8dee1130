"""Jinja templates of prompts: where they are, how they are found, and what exactly a team's prompts are made of."""

from __future__ import annotations

import logging
import re
import traceback
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Annotated, Literal

from jinja2 import (
    FileSystemLoader,
    FunctionLoader,
    StrictUndefined,
    Template,
    TemplateError,
    TemplateNotFound,
    TemplateSyntaxError,
    UndefinedError,
    nodes,
)
from jinja2.sandbox import ImmutableSandboxedEnvironment
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from quorum.agents.prompting.answers import LONGEST_THOUGHTS
from quorum.agents.prompting.blocks import read_value, write_json
from quorum_base.digests import digest
from quorum_base.user_errors import nearest, shown_path

SHIPPED = Path(__file__).resolve().parents[2] / "prompts"
"""Where the core's templates are."""
OWN = "prompts.folder"
"""What stands for the user's own folder in the names of sources."""


def shipped_templates(name: str) -> Path:
    """Return the folder of templates of a world or of a set of roles: the core's or a satellite's."""
    satellites = SHIPPED.parent.glob(f"*/prompts/{name}")
    return next((folder for folder in (SHIPPED / name, *sorted(satellites)) if folder.is_dir()), SHIPPED / name)


_MISSING = re.compile(r"'(\w+)' is undefined|has no attribute '(\w+)'")
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Place:
    """A folder of templates.

    Attributes:
        label: what stands for it in the names of sources: no path of this machine.
        folder: where it is.
    """

    label: str
    folder: Path


@dataclass(frozen=True, slots=True)
class _Source:
    """The text of a template.

    Attributes:
        place: where it was found.
        text: what it holds.
    """

    place: _Place
    text: str


@dataclass(eq=False)
class Templates:
    """The templates of a team's prompts: its parts and all that they include, read once, when this is made.

    A name is looked for in the user's own folder and the shipped one of each kind; then, in the user's own folder, in
    that of the world and at the top; then in the folder of the world; then in `common/`, the user's own first. So a
    folder of one's own is laid out like the shipped one, or holds templates for every world at its top.

    Attributes:
        world: name of the world.
        world_folder: where the world's own templates are; it need not be there.
        parts: name of the file of each part, by what messages call the part.
        own: a folder of templates that come before the shipped ones; None: none.
        kinds: names of folders for sets of roles (`llamac`), most special first.
        last: a folder in which a name is looked for last.

    Raises:
        ValueError: there is no such folder, none of its templates is used, or a part is not there or cannot be read.
    """

    world: str
    world_folder: Path
    parts: Mapping[str, str]
    own: str | None
    kinds: Sequence[str] = ()
    last: Path | None = None

    def __post_init__(self) -> None:
        """Read all parts, and what they include."""
        own = self.own
        self._of_extensions: dict[Path, Templates] = {}
        self._places = tuple(_places(self.world, self.world_folder, own, self.kinds))
        if self.last is not None:
            self._places += (_Place(f"extension {self.last.name}", self.last),)
        if own is not None and not Path(own).is_dir():
            raise ValueError(f"{OWN}: {own}: there is no such folder")
        self._loader = FileSystemLoader([place.folder for place in self._places])
        self._sources = self._read_all()
        if own is not None and not any(name.startswith(OWN) for name in self.sources):
            wanted = ", ".join(sorted(name.removeprefix("prompts/") for name in self.sources))
            raise ValueError(f"{OWN}: {own}: it holds no template that is used here. It may hold {wanted}")

    @cached_property
    def sources(self) -> Mapping[str, str]:
        """The digest of each template that the prompts are made of, by its place in the shipped or the own folder."""
        found = self._sources.items()
        return {f"{source.place.label}/{name}": digest(source.text.encode()) for name, source in sorted(found)}

    def of_extension(self, file: Path, own: str | None) -> Templates:
        """Return the template of an extension, which a user's own folder or that of the world may replace by its name.

        Args:
            file: the template; its name without `.jinja` is the part.
            own: a folder of templates that come before; None: none.

        Raises:
            ValueError: it cannot be read.
        """
        if file not in self._of_extensions:
            self._of_extensions[file] = template_of(file, self.world, self.world_folder, own)
        return self._of_extensions[file]

    def find(self, part: str) -> Template:
        """Return the template of a part.

        Raises:
            ValueError: it cannot be read.
        """
        name = self.parts[part]
        try:
            template = self._environment.get_template(name)
        except TemplateError as error:
            raise ValueError(
                f"prompts: the template {name!r} ({part}) cannot be read: {error}{place_of(error)}"
            ) from error
        unwritten = self._sources.get("rules.jinja")  # what the rules of every set fall back on
        if part == "rules" and unwritten is not None and unwritten.place.folder == SHIPPED / "common":
            _warn_of_unwritten_rules(self.world)
        return template

    @cached_property
    def _environment(self) -> ImmutableSandboxedEnvironment:
        found = sorted(self._sources.items())
        return _environment(tuple((name, source.text, str(source.place.folder / name)) for name, source in found))

    def _read_all(self) -> dict[str, _Source]:
        found: dict[str, _Source] = {}
        for part, name in self.parts.items():
            self._read(name, found)
            if name not in found:
                where = ", ".join(str(place.folder) for place in self._places)
                raise ValueError(
                    f"prompts: there is no template {name!r} ({part}) for the world '{self.world}' in {where}"
                )
        return found

    def _read(self, name: str, found: dict[str, _Source]) -> None:
        """Read a template and what it includes; one that is missing is reported when a prompt is filled in."""
        if name in found:
            return
        try:
            text, file, _ = self._loader.get_source(_PARSER, name)
        except TemplateNotFound:
            return
        except (OSError, UnicodeError) as error:
            where = ", ".join(str(place.folder) for place in self._places if (place.folder / name).is_file())
            raise ValueError(f"prompts: the template {name!r} in {where} cannot be read: {error}") from error
        found[name] = _Source(next(place for place in self._places if place.folder / name == Path(file)), text)
        for included in _included(text):
            for other in [included] if included is not None else self._loader.list_templates():
                self._read(other, found)


def _read_thoughts(value: object) -> object:
    if value is False:  # what YAML makes of off
        return "off"
    if value in ("auto", "off") or (type(value) is int and 1 <= value <= LONGEST_THOUGHTS):
        return value
    raise ValueError(f"it must be auto, off, or a number of characters from 1 to {LONGEST_THOUGHTS}")


class PromptSet(BaseModel):
    """A set of prompts: values of the group `prompts`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    folder: str | None
    """A folder of templates that come before the shipped ones; null: none."""
    system: str = Field(min_length=1)
    """Template of the system message."""
    rules: str = Field(min_length=1)
    """Template of the rules of the world."""
    turn: str = Field(min_length=1)
    """Template of the message of a turn."""
    roles: str
    """What the names of the templates of teams with roles begin with, of `turn.jinja` and one for each role."""
    form: Literal["words", "schema", "text"]
    """What gives a model the form of its answer where the provider has no way to ask for it: the words of
    these templates, or the JSON schema. `text`: values and answers are no typed JSON, but in the world's own notation,
    which the words tell."""
    thoughts: Annotated[Literal["auto", "off"] | int, BeforeValidator(_read_thoughts)]
    """Characters of the thoughts that a typed answer begins with, at most; `off`: it has none; `auto`: it has none
    where the model thinks by itself, or is to be short (`maeil.component.TeamContext.thoughts`). Text has its own."""

    def room_for_thoughts(self, auto: bool) -> int:
        """Return how many characters of thoughts a typed answer begins with, at most; 0: it has none.

        Args:
            auto: whether it has any where the set leaves that open.
        """
        if self.thoughts == "auto":
            return LONGEST_THOUGHTS if auto or self.form == "text" else 0
        return 0 if self.thoughts == "off" else self.thoughts

    def for_turns(self, world: str, world_folder: Path) -> Templates:
        """Read the templates of agents that are asked turn by turn.

        Args:
            world: name of the world.
            world_folder: where the world's own templates are.

        Raises:
            ValueError: a template is not there, or nothing in the set's own folder is used.
        """
        parts = {"rules": self.rules, "system": self.system, "turn": self.turn}
        return Templates(world, world_folder, parts, own=self.folder)

    def for_ending(self, part: str, world: str, world_folder: Path) -> Templates:
        """Read the template of what some turns end in: the same words for every set, but for one's own.

        Args:
            part: `repair`, `needs`, `predict` or `expected`: its name without `.jinja`.
            world: name of the world.
            world_folder: where the world's own templates are.

        Raises:
            ValueError: it cannot be read.
        """
        name = f"{part}.jinja"
        own = self.folder if self.folder is not None and any(Path(self.folder).rglob(name)) else None
        return Templates(world, world_folder, {part: name}, own=own)

    def for_role(self, role: str) -> str:
        """Return the name of the template of a role."""
        return f"{self.roles}{role}.jinja"


def template_of(file: Path, world: str, world_folder: Path, own: str | None) -> Templates:
    """Read the template of an extension (`Templates.of_extension`)."""
    used = own if own is not None and any(Path(own).rglob(file.name)) else None
    return Templates(world, world_folder, {file.stem: file.name}, own=used, last=file.parent)


def _places(world: str, world_folder: Path, own: str | None, kinds: Sequence[str]) -> list[_Place]:
    own_folders = [_Place(OWN, Path(own).absolute())] if own is not None else []
    in_shipped = f"prompts/{world}" if world_folder == shipped_templates(world) else f"{world}/prompts"
    return [
        *(place for kind in kinds for place in (*_inside(own_folders, kind), _shipped(kind))),
        *_inside(own_folders, world),
        *own_folders,
        _Place(in_shipped, world_folder),
        *_inside(own_folders, "common"),
        _shipped("common"),
    ]


def _shipped(name: str) -> _Place:
    return _Place(f"prompts/{name}", shipped_templates(name))


def _inside(places: Iterable[_Place], name: str) -> list[_Place]:
    return [_Place(f"{place.label}/{name}", place.folder / name) for place in places]


def place_of(error: TemplateError) -> str:
    """Say where in a template an error arose, as in ` (my_prompts/cube/rules.jinja:3)`; empty if unknown."""
    if isinstance(error, TemplateSyntaxError) and error.filename is not None:
        return f" ({shown_path(error.filename)}:{error.lineno})"
    frames = traceback.extract_tb(error.__traceback__)
    found = [frame for frame in frames if frame.filename.endswith(".jinja")]
    return f" ({shown_path(found[-1].filename)}:{found[-1].lineno})" if found else ""


def reason_of(error: TemplateError, names: Iterable[str]) -> str:
    """Say what is wrong in a template that cannot be filled in.

    Args:
        error: what Jinja says.
        names: that templates may use.
    """
    if isinstance(error, TemplateNotFound):
        return f"there is no template {error.name!r}"
    missing = _MISSING.search(str(error)) if isinstance(error, UndefinedError) else None
    near = nearest(missing[1] or missing[2], names) if missing else ""
    return f"{error}. {near}" if near else str(error)


_PARSER = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)


@lru_cache(maxsize=256)
def _included(text: str) -> tuple[str | None, ...]:
    """Return the names of the templates that a template includes; None for one that only a prompt can tell.

    Those that the values of a set of prompts name (`prompts.rules`, and `prompts.role` for that of the role) are parts.
    """
    try:
        parsed = _PARSER.parse(text)
    except TemplateError:
        return ()  # reported when it is compiled, with the name of its part
    found: list[str | None] = []
    for node in parsed.find_all((nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends)):
        names = node.template  # type: ignore[attr-defined] # all four have it
        match names:
            case nodes.Const(value=str(name)):
                found.append(name)
            case nodes.List(items=items) | nodes.Tuple(items=items) if all(isinstance(i, nodes.Const) for i in items):
                found += [item.value for item in items if isinstance(item, nodes.Const)]
            case nodes.Getattr(node=nodes.Name(name="prompts")):
                pass
            case _:
                found.append(None)
    return tuple(found)


@lru_cache(maxsize=256)
def _environment(texts: tuple[tuple[str, str, str], ...]) -> ImmutableSandboxedEnvironment:
    """Return what fills templates in, once for all teams of a process: compiling one takes longer than filling it in.

    It knows these texts and no files: what is written to disk while an episode is played does not change its prompts.

    Args:
        texts: name, content and file of each template; errors give the file as the place.
    """
    known = {name: (text, file, None) for name, text, file in texts}
    environment = ImmutableSandboxedEnvironment(
        loader=FunctionLoader(known.get),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
        autoescape=False,  # prompts are plain text; what others wrote is escaped as JSON
    )
    environment.filters |= {"json": write_json, "value": read_value}
    return environment


@cache
def _warn_of_unwritten_rules(world: str) -> None:
    """Warn once a process, however many teams are built."""
    _log.warning(
        "nobody has written down the rules of the world '%s' for a prompt; prompts say so. "
        "Write a rules.jinja: docs/writing-a-world.md",
        world,
    )
