"""The file that stores memory between episodes. It may be untrusted, so it is validated and its size is limited."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from quorum.storage.run_files import MIB, RunFiles

MEMORY = "memory.json"
"""The team's memory at the end of the episode."""
MEMORY_BEFORE = "memory_before.json"
"""The team's memory at the start of the episode: with it, a run can be repeated from its folder alone."""
LARGEST = 16 * MIB
"""Maximum size in bytes."""
_SCHEMA = 1


@dataclass(frozen=True, slots=True)
class Memory:
    """The memory of a team after an episode.

    Attributes:
        memories: JSON-ready memories by `maeil.memory.Remembers.memory_name`.
    """

    memories: Mapping[str, Any]

    @property
    def digest(self) -> str:
        """SHA-256 of the memories as JSON, in hexadecimal; depends on their order."""
        return hashlib.sha256(orjson.dumps(self.memories)).hexdigest()

    def data(self) -> bytes:
        """Return the content of the file.

        Raises:
            TypeError: a value has no JSON form.
        """
        whole = {"schema": _SCHEMA, "sha256": self.digest, "memories": self.memories}
        return orjson.dumps(whole, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def read_memory(folder: Path, name: str = MEMORY) -> Memory | None:
    """Read a memory; None if the file does not exist.

    Raises:
        DamagedFile: it is too large, a link, not a Quorum memory, or not what was written.
    """
    files = RunFiles(folder)
    data = files.read(name, LARGEST)
    if data is None:
        return None
    try:
        whole = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise files.damaged(name, f"damaged: {error}") from error
    if not isinstance(whole, dict) or not isinstance(whole.get("memories"), dict):
        raise files.damaged(name, "it is not a team's memory")
    if whole.get("schema") != _SCHEMA:
        raise files.damaged(name, f"it has the schema {whole.get('schema')!r}, but this version reads {_SCHEMA}")
    memory = Memory(whole["memories"])
    try:
        digest = memory.digest
    except TypeError as error:  # nested too deeply to be written
        raise files.damaged(name, f"damaged: {error}") from error
    if digest != whole.get("sha256"):
        raise files.damaged(name, "damaged: its SHA-256 differs from the recorded one")
    return memory
