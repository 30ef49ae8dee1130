"""An extension that refuses the first thought with what a file says, for tests of files that a configuration names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from maeil import Component, Thought, View
from maeil.extension import Extension, ExtensionConfig, ExtensionContext
from maeil.team import Participant
from quorum.configuration.registry import extensions
from quorum_base.digests import digest_file


class ReciterConfig(ExtensionConfig):
    """It names the file."""

    donors: str
    """The file."""


class Reciter(Extension):
    """Refuses a thought once."""

    name = "reciter"

    def __init__(self, text: str) -> None:
        self._reasons = [text]

    def review(self, thought: Thought, view: View, author: Participant) -> Sequence[str]:
        """Say what the file says."""
        return [self._reasons.pop()] if self._reasons else ()


def build(config: ReciterConfig, _context: ExtensionContext) -> Reciter:
    """Read the file."""
    return Reciter(Path(config.donors).read_text())


def inputs(config: ReciterConfig, _world: str) -> dict[str, str]:
    """Digest the file."""
    found = digest_file(Path(config.donors))
    if found is None:
        raise ValueError(f"donors: {config.donors}: there is no such file")
    return {"extension.reciter.donors": found}


extensions.register("reciter", Component(ReciterConfig, build, inputs=inputs))
