"""`meta.json`: what the folder of a run says of it. An untrusted file is checked against this before it is used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from quorum.experiments.common.memory_file import MEMORY, MEMORY_BEFORE
from quorum.experiments.common.packages import DISTRIBUTION
from quorum.experiments.common.provenance import CodeVersion
from quorum.experiments.configuration.cell import Branch, line_of


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


class _Error(_Part):
    class_: str
    message: str
    place: str = ""

    @property
    def text(self) -> str:
        """What went wrong, in a line; of the code of a plug-in also where."""
        where = f"{self.place}: " if self.place else ""
        return f"{where}{self.class_}: {self.message}"

    @property
    def reason(self) -> str:
        """The text alone for what a user is shown; the whole for the code of a plug-in."""
        return self.text if self.place else self.message

    model_config = ConfigDict(alias_generator=lambda name: name.removesuffix("_"))


class _Commit(_Part):
    commit: str
    changed: bool


class _Memory(_Part):
    before: str | None
    after: str | None


class _Branch(_Part):
    run: str
    t: Annotated[int, Field(ge=0)]
    t_hat: int | float | None
    prefix: str
    edits: list[str]
    told: list[str] = []
    draw: Annotated[int, Field(ge=0)] = 0
    copied: list[str] = []

    @property
    def branch(self) -> Branch:
        """As a cell has it."""
        lists = tuple(self.edits), tuple(self.told), self.draw, tuple(self.copied)
        return Branch(self.run, self.t, self.t_hat, self.prefix, *lists)


class RunMeta(_Part):
    """`meta.json`."""

    hash: str
    """Of the configuration."""
    seed: Annotated[int, Field(ge=0, lt=2**63)]
    """Names the board."""
    start: str = ""
    """When the episode began, ISO 8601."""
    end: str | None = None
    """When it ended; None while it is under way."""
    outcome: str | None
    """`completed`, `limit`, `budget` or `error`; None while it is under way."""
    reason: str = ""
    """Why it was ended before its time."""
    error: _Error | None = None
    """What it failed with."""
    versions: Mapping[str, str] = {}
    """Of Python and of every package that it ran with."""
    git: _Commit | None = None
    """The commit of the checkout that it ran from."""
    models: list[str] = []
    """The language models that answered."""
    simulated: bool = False
    """Whether one of them was simulated."""
    fallbacks: list[str] = []
    """Those that answered in the place of others, which could not be reached."""
    configuration: dict[str, Any] | None = None
    """The resolved configuration; None in the folders of older versions, which have it in `config.yaml` alone."""
    inputs: Mapping[str, str] = {}
    """Digests of what decided besides the configuration: templates of prompts, plug-ins; older versions kept none."""
    unused: Mapping[str, str] = {}
    """Groups of the configuration that its minds had no use for, each with what they do not do."""
    minds: Mapping[str, str] = {}
    """The name of the mind of each participant, in a team that has several; else empty."""
    memory: _Memory | None = None
    """Digests of the memory that the team brought along, and of that which it took along; None where it keeps none."""
    branch: _Branch | None = None
    """What it branches off; None: nothing."""
    parent: str = ""
    """Where the run that it branches off lay, from the folder that holds this one; empty where nobody says."""
    files: Mapping[str, str] | None = None
    """SHA-256 of every other file, in hexadecimal; None while the run is under way, and in folders of versions before
    0.10."""

    @property
    def code(self) -> CodeVersion:
        """The code that it ran with."""
        version = self.versions.get(DISTRIBUTION, "unknown")
        return CodeVersion(version, self.git.commit, self.git.changed) if self.git else CodeVersion(version)


@dataclass(frozen=True, slots=True)
class LinePlace:
    """Where a run stands in its line.

    Attributes:
        line: equal for the runs of one line.
        episode: number in it.
        before: digest of the memory that it began with; None for none.
        after: digest of that which it left; None where it failed.
    """

    line: str
    episode: int
    before: str | None
    after: str | None


def place_of(meta: RunMeta) -> LinePlace | None:
    """Return where a run stands in its line; None where its team takes nothing along, or it does not say.

    A branch is in no line: it begins with what its run began with, whatever other branches have left.
    """
    configuration = meta.configuration
    if meta.branch is not None:
        return None
    if meta.memory is None or configuration is None or not isinstance(episode := configuration.get("episode"), int):
        return None
    try:
        line = line_of(configuration, meta.inputs)
    except TypeError:  # nested more deeply than any that was composed
        return None
    return LinePlace(line, episode, meta.memory.before, meta.memory.after)


def misfits(places: Mapping[str, LinePlace | None]) -> dict[str, str]:
    """Return the runs that do not fit to the one before them, each with the reason.

    Args:
        places: of runs, by name. Those whose line has no run before them here are not judged.
    """
    names = {(place.line, place.episode): name for name, place in places.items() if place is not None}
    found = {}
    for name, place in places.items():
        before = names.get((place.line, place.episode - 1)) if place is not None else None
        left = places[before] if before is not None else None
        if place is not None and left is not None and place.before != left.after:
            found[name] = f"{MEMORY_BEFORE}: it began with another memory than the {MEMORY} of {before}"
    return found
