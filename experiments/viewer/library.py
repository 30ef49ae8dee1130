"""What may be shown: the runs of one folder by name, and nothing else of the disk."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TypeVar

from experiments.errors import UserError
from experiments.results.run_folder import is_run
from experiments.viewer.episode import Episode, read_episode
from experiments.viewer.filming import reel
from experiments.viewer.uncollected import uncollected

T = TypeVar("T")
_KEPT = 3
"""Episodes that stay in memory."""


@dataclass(slots=True)
class Library:
    """The runs that can be opened. A name is looked up among those that are there; it is never made a path.

    Attributes:
        root: the folder that the user named, resolved.
        single: the name of the one run, where the folder is a run and not a sweep.
        replay: gives the pictures of the run in a folder, as JSON.
    """

    root: Path
    single: str | None
    replay: Callable[[Path], bytes] = reel
    _reels: OrderedDict[tuple[str, int], bytes] = field(default_factory=OrderedDict)
    _episodes: OrderedDict[tuple[str, int], Episode] = field(default_factory=OrderedDict)
    _reading: Lock = field(default_factory=Lock)
    _filming: Lock = field(default_factory=Lock)

    @classmethod
    def of(cls, folder: Path) -> Library:
        """Open a folder. It replays in this process, until another way is set.

        Raises:
            UserError: there is no such folder, or nothing in it can be shown.
        """
        try:
            root = folder.resolve(strict=True)
        except (OSError, RuntimeError) as error:
            raise UserError(f"{folder}: there is no such folder", "Give the folder of a run or of a sweep.") from error
        if not root.is_dir():
            raise UserError(f"{folder}: it is a file; give the folder of a run or of a sweep")
        if is_run(root):
            return cls(root, root.name)
        library = cls(root, None)
        if not library.names() and not (root / "sweep.json").is_file():
            inside = sorted(path.parent.name for path in root.glob("*/sweep.json"))
            hint = f"It holds sweeps: give one of them, {root / inside[0]}." if inside else "Give the folder of a run."
            raise UserError(f"{folder}: it holds no runs", hint)
        return library

    def names(self) -> list[str]:
        """Give the names of the runs, sorted; links are left out."""
        if self.single is not None:
            return [self.single]
        return sorted(p.name for p in self.root.iterdir() if not p.is_symlink() and p.is_dir() and is_run(p))

    def folder(self, name: str) -> Path | None:
        """Give the folder of a run; None where there is none of this name."""
        if name not in self.names():
            return None
        return self.root if self.single is not None else self.root / name

    def episode(self, name: str) -> Episode | None:
        """Read a run, or give it as it was read before if its trace has not grown since; None where there is none."""
        folder = self.folder(name)
        if folder is None:
            return None
        with self._reading, uncollected():
            return _kept(self._episodes, _state(folder), partial(read_episode, folder))

    def reel(self, name: str) -> bytes | None:
        """Replay a run, or give its pictures again; None where there is none. No other request waits for it."""
        folder = self.folder(name)
        if folder is None:
            return None
        with self._filming:
            return _kept(self._reels, _state(folder), partial(self.replay, folder))


def _state(folder: Path) -> tuple[str, int]:
    """Give what changes with the files of a run."""
    return folder.name, sum(path.stat().st_mtime_ns for path in folder.iterdir() if not path.is_symlink())


def _kept(found: OrderedDict[tuple[str, int], T], key: tuple[str, int], make: Callable[[], T]) -> T:
    if key not in found:
        found[key] = make()
        while len(found) > _KEPT:
            found.popitem(last=False)
    return found[key]
