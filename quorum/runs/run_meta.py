"""The schema of `meta.json`, which describes a run. An untrusted file is validated against it before use."""

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
        """The error in one line; for plugin code with its location."""
        where = f"{self.place}: " if self.place else ""
        return f"{where}{self.class_}: {self.message}"

    @property
    def reason(self) -> str:
        """The message alone for errors meant for users; for plugin code, the whole line."""
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
    """Hash of the configuration."""
    seed: Annotated[int, Field(ge=0, lt=2**63)]
    """Seed of the board."""
    start: str = ""
    """Start time of the episode, ISO 8601."""
    end: str | None = None
    """End time; None while it is running."""
    outcome: Outcome | None
    """How it ended; None while it is running."""
    reason: str = ""
    """Why it ended early."""
    error: _Error | None = None
    """The error that ended it."""
    versions: Mapping[str, str] = {}
    """Versions of Python and of every package that it ran with."""
    machine: Mapping[str, str | int | None] = {}
    """Operating system, architecture and number of processors."""
    git: _Commit | None = None
    """The commit of the checkout that it ran from."""
    models: list[str] = []
    """The language models that answered."""
    simulated: bool = False
    """Whether any of them was simulated."""
    fallbacks: list[str] = []
    """Models that answered for unreachable ones."""
    fingerprints: list[str] = []
    """Model builds that answered, as named by their services."""
    configuration: dict[str, Any]
    """The resolved configuration."""
    inputs: Mapping[str, str] = {}
    """Digests of inputs besides the configuration: prompt templates, plugins."""
    unused: Mapping[str, str] = {}
    """Groups of the configuration that its minds did not use, each with what they do not do."""
    minds: Mapping[str, str] = {}
    """The mind's name for each participant if the team is mixed; else empty."""
    memory: _Memory | None = None
    """Digests of the team's memory at the start and at the end; None if it keeps none."""
    origin: Annotated[Origin | None, PlainValidator(read_origin)] = Field(None, alias=ORIGIN)
    """Origin of its cell; None: none."""
    parent: str = ""
    """Path of the run that it continues, relative to the parent of this folder; empty if not recorded."""
    files: Mapping[str, str] | None = None
    """SHA-256 of every other file, in hexadecimal; None while the run is running, or if the user stopped it."""

    @property
    def milliseconds(self) -> tuple[int, int]:
        """Start and end of the episode, in milliseconds since 1970.

        Raises:
            ValueError: one of them is not a date.
        """
        dates = (datetime.fromisoformat(text) for text in (self.start, self.end or ""))
        begin, end = ((date.replace(tzinfo=date.tzinfo or UTC) - _EPOCH) // timedelta(milliseconds=1) for date in dates)
        return begin, end

    @property
    def code(self) -> CodeVersion:
        """The code version that it ran with."""
        version = self.versions.get(DISTRIBUTION, "unknown")
        return CodeVersion(version, self.git.commit, self.git.changed) if self.git else CodeVersion(version)
