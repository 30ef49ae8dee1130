"""Jinja templates of prompts: their places, their lookup, and the exact sources of a team's prompts."""

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
"""Folder of the core's templates."""
OWN = "prompts.folder"
"""Stands for the user's own folder in source names."""


def shipped_templates(name: str) -> Path:
    """Return the template folder of a world or a set of roles, in the core or in a satellite."""
    satellites = SHIPPED.parent.glob(f"*/prompts/{name}")
    return next((folder for folder in (SHIPPED / name, *sorted(satellites)) if folder.is_dir()), SHIPPED / name)


_MISSING = re.compile(r"'(\w+)' is undefined|has no attribute '(\w+)'")
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Place:
    """A folder of templates.

    Attributes:
        label: its name in source names, instead of a local path.
        folder: its path.
    """

    label: str
    folder: Path


@dataclass(frozen=True, slots=True)
class _Source:
    """The text of a template.

    Attributes:
        place: where it was found.
        text: its content.
    """

    place: _Place
    text: str


@dataclass(eq=False)
class Templates:
    """The templates of a team's prompts: its parts and everything they include, read once at creation.

    Lookup order of a name: for each kind, the user's folder and then the shipped one; then the user's folder, first the
    subfolder of the world and then the top; then the folder of the world; then `common/`, the user's first. So a user's
    folder has the layout of the shipped one, or holds templates for all worlds at its top.

    Attributes:
        world: name of the world.
        world_folder: folder of the world's own templates; it may be missing.
        parts: file name of each part, by the part's name in messages.
        own: a folder whose templates override the shipped ones; None: none.
        kinds: folder names for sets of roles (`llamac`), most specific first.
        last: a folder that is searched last.

    Raises:
        ValueError: the folder does not exist, none of its templates is used, or a part is missing or unreadable.
    """

    world: str
    world_folder: Path
    parts: Mapping[str, str]
    own: str | None
    kinds: Sequence[str] = ()
    last: Path | None = None

    def __post_init__(self) -> None:
        """Read all parts and their includes."""
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
            raise ValueError(f"{OWN}: {own}: this folder contains no template used here. It may contain {wanted}")

    @cached_property
    def sources(self) -> Mapping[str, str]:
        """The digest of each template used, by its place in the shipped or the user's folder."""
        found = self._sources.items()
        return {f"{source.place.label}/{name}": digest(source.text.encode()) for name, source in sorted(found)}

    def of_extension(self, file: Path, own: str | None) -> Templates:
        """Return the template of an extension; the user's folder or the world's may override it by name.

        Args:
            file: the template; its name without `.jinja` is the part.
            own: a folder whose templates override it; None: none.

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
        unwritten = self._sources.get("rules.jinja")  # the fallback for the rules of every set
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
        """Read a template and its includes; a missing one is reported when a prompt is rendered."""
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
    if value is False:  # YAML reads off as false
        return "off"
    if value in ("auto", "off") or (type(value) is int and 1 <= value <= LONGEST_THOUGHTS):
        return value
    raise ValueError(f"it must be auto, off, or a number of characters from 1 to {LONGEST_THOUGHTS}")


class PromptSet(BaseModel):
    """A prompt set: values of the group `prompts`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    folder: str | None
    """A folder whose templates override the shipped ones; null: none."""
    system: str = Field(min_length=1)
    """Template of the system message."""
    rules: str = Field(min_length=1)
    """Template of the world's rules."""
    turn: str = Field(min_length=1)
    """Template of a turn's message."""
    roles: str
    """Prefix of the template names of teams with roles: of `turn.jinja` and of one template for each role."""
    form: Literal["words", "schema", "text"]
    """How a model learns the schema of its answer if the provider has no way to request it: the words of these
    templates, or the JSON schema. `text`: values and answers use the world's own notation, which the words explain,
    instead of typed JSON."""
    thoughts: Annotated[Literal["auto", "off"] | int, BeforeValidator(_read_thoughts)]
    """Maximum length of the thoughts at the start of a typed answer, in characters; `off`: none; `auto`: none for
    reasoning models and for models that should be brief (`maeil.component.TeamContext.thoughts`). Text has its own."""

    def room_for_thoughts(self, auto: bool) -> int:
        """Return the maximum length of a typed answer's thoughts in characters; 0: it has none.

        Args:
            auto: whether it has thoughts if the prompt set leaves that open.
        """
        if self.thoughts == "auto":
            return LONGEST_THOUGHTS if auto or self.form == "text" else 0
        return 0 if self.thoughts == "off" else self.thoughts

    def for_turns(self, world: str, world_folder: Path) -> Templates:
        """Read the templates of agents with one prompt per turn.

        Args:
            world: name of the world.
            world_folder: folder of the world's own templates.

        Raises:
            ValueError: a template is missing, or none in the set's own folder is used.
        """
        parts = {"rules": self.rules, "system": self.system, "turn": self.turn}
        return Templates(world, world_folder, parts, own=self.folder)

    def for_ending(self, part: str, world: str, world_folder: Path) -> Templates:
        """Read the template of a turn's ending: the same words for every set, unless the user overrides them.

        Args:
            part: `repair`, `needs`, `predict` or `expected`: the file name without `.jinja`.
            world: name of the world.
            world_folder: folder of the world's own templates.

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
    """Return the place of an error in a template, as ` (my_prompts/cube/rules.jinja:3)`; empty if unknown."""
    if isinstance(error, TemplateSyntaxError) and error.filename is not None:
        return f" ({shown_path(error.filename)}:{error.lineno})"
    frames = traceback.extract_tb(error.__traceback__)
    found = [frame for frame in frames if frame.filename.endswith(".jinja")]
    return f" ({shown_path(found[-1].filename)}:{found[-1].lineno})" if found else ""


def reason_of(error: TemplateError, names: Iterable[str]) -> str:
    """Return the reason why a template cannot be rendered.

    Args:
        error: the error from Jinja.
        names: variables that templates may use.
    """
    if isinstance(error, TemplateNotFound):
        return f"there is no template {error.name!r}"
    missing = _MISSING.search(str(error)) if isinstance(error, UndefinedError) else None
    near = nearest(missing[1] or missing[2], names) if missing else ""
    return f"{error}. {near}" if near else str(error)


_PARSER = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)


@lru_cache(maxsize=256)
def _included(text: str) -> tuple[str | None, ...]:
    """Return the names of a template's includes; None for names that are known only when a prompt is rendered.

    Names given by the values of a prompt set (`prompts.rules`, and `prompts.role` for that of the role) are parts.
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
    """Return a Jinja environment, shared by all teams of a process because compiling is slower than rendering.

    It knows these texts and no files, so that writes to disk during an episode do not change its prompts.

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
        autoescape=False,  # prompts are plain text; text from others is escaped as JSON
    )
    environment.filters |= {"json": write_json, "value": read_value}
    return environment


@cache
def _warn_of_unwritten_rules(world: str) -> None:
    """Warn once per process, regardless of the number of teams."""
    _log.warning(
        "the world '%s' has no prompt template for its rules; prompts say so. "
        "Write a rules.jinja: docs/writing-a-world.md",
        world,
    )
