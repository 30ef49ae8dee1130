"""`meta.json`: what the folder of a run says of it. An untrusted file is checked against this before it is used."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, PlainValidator

from maeil.outcomes import Outcome
from quorum.configuration.origin import ORIGIN, Origin, read_origin
from quorum.installation.packages import DISTRIBUTION
from quorum.installation.provenance import CodeVersion

_EPOCH = datetime.fromtimestamp(0, UTC)


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
    outcome: Outcome | None
    """How it ended; None while it is under way."""
    reason: str = ""
    """Why it was ended before its time."""
    error: _Error | None = None
    """What it failed with."""
    versions: Mapping[str, str] = {}
    """Of Python and of every package that it ran with."""
    machine: Mapping[str, str | int | None] = {}
    """Operating system, architecture and number of processors."""
    git: _Commit | None = None
    """The commit of the checkout that it ran from."""
    models: list[str] = []
    """The language models that answered."""
    simulated: bool = False
    """Whether one of them was simulated."""
    fallbacks: list[str] = []
    """Those that answered in the place of others, which could not be reached."""
    fingerprints: list[str] = []
    """What the services call the builds that answered."""
    configuration: dict[str, Any]
    """The resolved configuration."""
    inputs: Mapping[str, str] = {}
    """Digests of what decided besides the configuration: templates of prompts, plug-ins."""
    unused: Mapping[str, str] = {}
    """Groups of the configuration that its minds had no use for, each with what they do not do."""
    minds: Mapping[str, str] = {}
    """The name of the mind of each participant, in a team that has several; else empty."""
    memory: _Memory | None = None
    """Digests of the memory that the team brought along, and of that which it took along; None where it keeps none."""
    origin: Annotated[Origin | None, PlainValidator(read_origin)] = Field(None, alias=ORIGIN)
    """What its cell goes back to; None: nothing."""
    parent: str = ""
    """Path of the run that it continues, from the folder that holds this one; empty if that is not recorded."""
    files: Mapping[str, str] | None = None
    """SHA-256 of every other file, in hexadecimal; None while the run is under way, and where the user stopped it."""

    @property
    def milliseconds(self) -> tuple[int, int]:
        """When the episode began and ended, in milliseconds since 1970.

        Raises:
            ValueError: one of them is no date.
        """
        dates = (datetime.fromisoformat(text) for text in (self.start, self.end or ""))
        begin, end = ((date.replace(tzinfo=date.tzinfo or UTC) - _EPOCH) // timedelta(milliseconds=1) for date in dates)
        return begin, end

    @property
    def code(self) -> CodeVersion:
        """The code that it ran with."""
        version = self.versions.get(DISTRIBUTION, "unknown")
        return CodeVersion(version, self.git.commit, self.git.changed) if self.git else CodeVersion(version)
