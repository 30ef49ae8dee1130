"""`memory.store`: the folder in which the memory of single runs outlives them."""

from __future__ import annotations

from pathlib import Path

from maeil.user_errors import UserError
from quorum.experiments.common.files import make_folder, require_file, write_whole
from quorum.experiments.common.memory_file import MEMORY, Memory, read_memory
from quorum.experiments.common.run_files import META
from quorum.experiments.configuration.inputs import InputsChanged

_HINT = "Give another folder: memory.store=FOLDER."


class MemoryStore:
    """A folder that holds the memory of a team: read when an episode begins, replaced when it is over.

    Args:
        folder: made if need be.

    Raises:
        UserError: it is the folder of a run, or nothing can be written there, or what it holds is no memory.
    """

    def __init__(self, folder: Path) -> None:
        self.file = folder / MEMORY
        """Where the memory stands."""
        if (folder / META).exists():
            raise UserError(f"memory.store: {folder} is the folder of a run, which nothing changes", _HINT)
        try:
            make_folder(folder)
        except OSError as error:
            raise UserError(f"memory.store: {folder}: {error.strerror or error}", _HINT) from error
        require_file(self.file, _HINT)
        self.before = read_memory(folder)
        """What it held at the beginning; None: nothing."""

    def refuse_other(self, digest: str | None) -> None:
        """Make sure that it holds what the cell was named with.

        Args:
            digest: of the memory when the cell was named; None where there was none.

        Raises:
            InputsChanged: it does not.
        """
        if (self.before.digest if self.before is not None else None) != digest:
            raise InputsChanged(
                f"memory.store: {self.file} is not what it was when this command began", "Say the command again."
            )

    def keep(self, memory: Memory) -> None:
        """Replace the memory, in one step, unless another run has done so since.

        Raises:
            UserError: another run has, or it cannot be written.
        """
        if read_memory(self.file.parent) != self.before:
            raise UserError(
                f"memory.store: {self.file} was replaced while the episode ran; it is left as it is",
                "Runs that share a store are played one after the other.",
            )
        write_whole(self.file, memory.data(), _HINT)
