"""The memory that the minds of a team keep from one episode to the next."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from maeil import Mind, Remembers
from maeil.contracts import check_json, described
from maeil.errors import ContractError
from quorum.configuration.inputs import InputsChanged
from quorum.episode.team import SilentMind
from quorum.storage.files import make_folder, require_file, write_all
from quorum.storage.locks import one_at_work
from quorum.storage.memory_file import LARGEST, MEMORY, Memory, read_memory
from quorum.storage.outputs import require_writable
from quorum.storage.run_files import META, MIB
from quorum_base.user_errors import UserError


def by_name(minds: Iterable[Mind]) -> Mapping[str, Remembers]:
    """Return the minds with memory by its name; for a shared memory, the first mind.

    Raises:
        ContractError: no mind has memory, or the name of a memory is not a string.
    """
    found: dict[str, Remembers] = {}
    kind: type = object
    for mind in (mind.mind if isinstance(mind, SilentMind) else mind for mind in minds):
        kind = type(mind)
        if isinstance(mind, Remembers):
            name = mind.memory_name
            if not (isinstance(name, str) and name):
                raise ContractError(f"{kind.__qualname__}.memory_name is {described(name)}; it must be a string", kind)
            found.setdefault(name, mind)
    if not found:
        raise ContractError(
            f"{kind.__qualname__} does not implement maeil.Remembers, but its Component sets remembers=True: "
            "it needs memory_name and remember()",
            kind,
        )
    return found


def remembered(minds: Iterable[Mind]) -> Memory:
    """Collect the memory of a team for the next episode.

    Raises:
        ContractError: a value cannot be written as JSON, or the total is too large.
    """
    asked = by_name(minds)
    memories: dict[str, Any] = {}
    for name, mind in asked.items():
        memories[name] = mind.remember()
        with check_json(mind.remember):
            size = len(Memory(memories).data())
        if size > LARGEST:
            raise ContractError(
                f"memory {name!r}: it makes the memory of the team larger than {LARGEST // MIB} MiB", mind.remember
            )
    return Memory(memories)


def refuse_strange(memory: Memory, minds: Iterable[Mind]) -> None:
    """Check that a memory belongs to this team.

    Raises:
        UserError: a part of it belongs to no mind of the team.
    """
    known = by_name(minds)
    if strange := [name for name in memory.memories if name not in known]:
        raise UserError(
            f"memory: it contains memories of {', '.join(map(repr, strange[:3]))}, but this team remembers as "
            f"{', '.join(map(repr, list(known)[:3]))}",
            "Give the memory of a team with the same minds.",
        )


_HINT = "Give another folder: memory.store=FOLDER."


class MemoryStore:
    """A folder with the memory of a team: read when an episode starts, replaced when it ends.

    Args:
        folder: created if necessary; locked for this run until `close`.
        digest: digest of the memory when the cell was named; None if there was none.

    Raises:
        UserError: it is the folder of a run, it cannot be written, its content is not a memory, or another run uses it.
        InputsChanged: its memory differs from the one that the cell was named with.
    """

    def __init__(self, folder: Path, digest: str | None) -> None:
        self.file = folder / MEMORY
        """Path of the memory file."""
        if (folder / META).exists():
            raise UserError(f"memory.store: {folder} is the folder of a run, which must not change", _HINT)
        require_writable(folder, "memory.store", _HINT)
        make_folder(folder)
        with ExitStack() as held:
            held.enter_context(one_at_work(folder, "run", "Run commands that share a store one after the other."))
            require_file(self.file, _HINT)
            self.before = read_memory(folder)
            """The memory at the start; None if there was none."""
            if (self.before.digest if self.before is not None else None) != digest:
                raise InputsChanged(
                    f"memory.store: {self.file} has changed since this command began", "Run the command again."
                )
            self._held = held.pop_all()

    def close(self) -> None:
        """Release the folder for other runs."""
        self._held.close()

    def keep(self, memory: Memory) -> None:
        """Replace the memory atomically, unless another run has replaced it since.

        Raises:
            UserError: another run has, or it cannot be written.
        """
        if read_memory(self.file.parent) != self.before:
            raise UserError(
                f"memory.store: {self.file} was replaced while the episode ran, so Quorum left it unchanged",
                "Run commands that share a store one after the other.",
            )
        write_all(self.file.parent, {MEMORY: memory.data()}, _HINT)
