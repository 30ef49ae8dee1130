"""What the viewer may show: the runs of one folder by name, and nothing else on the disk."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from threading import Lock

from quorum.episode.episode_folder import PARTIAL, is_under_way
from quorum.runs.newest import sweeps_hint
from quorum.runs.run_folder import RunFolder, is_run, no_such_folder, runs_inside
from quorum.view.same_board import Beginning, check_same_board, differences, read_beginning
from quorum.view.viewer.episode import Episode, read_episode
from quorum.view.viewer.pages import Json
from quorum.view.viewer.runs import family, parting, relatives
from quorum_base.user_errors import UserError

_KEPT = 3
"""Number of episodes that stay in memory."""


@dataclass(slots=True)
class Library:
    """The runs that can be opened. A name is only looked up among existing runs, and never used as a path.

    Attributes:
        root: the folder of the runs, resolved.
        named: the runs that the user named by their folders; empty for the folder of a sweep. With a single one, runs
            next to it that share its beginning can be opened as well.
        pair: the two runs side by side, if the user named two, and their differences.
    """

    root: Path
    named: Mapping[str, Path] = field(default_factory=dict)
    pair: Json | None = None
    _episodes: OrderedDict[tuple[str, Path, int, bool], Episode] = field(default_factory=OrderedDict)
    _under_way: dict[str, int] = field(default_factory=dict)
    _relatives: Mapping[str, Path] = field(default_factory=dict)
    _reading: Lock = field(default_factory=Lock)
    _shares: dict[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, folder: Path) -> Library:
        """Open a folder.

        Raises:
            UserError: there is no such folder, or nothing in it can be shown.
        """
        root = _resolved(folder)
        if is_run(root):
            return cls(root.parent, {root.name: root})
        library = cls(root)
        if not library.names() and not (root / "sweep.json").is_file():
            raise UserError(f"{folder}: it holds no runs", sweeps_hint(folder))
        return library

    @classmethod
    def side_by_side(cls, one: Path, other: Path) -> Library:
        """Open two runs of one board.

        Raises:
            UserError: one of them is not a run, or they are not of the same board.
        """
        beginnings = [_beginning(folder) for folder in (one, other)]
        folders = [_resolved(folder) for folder in (one, other)]
        names = [folder.name for folder in folders]
        if names[0] == names[1]:
            names = [f"{name} ({letter})" for name, letter in zip(names, "AB", strict=True)]
        named = dict(zip(names, folders, strict=True))
        return cls(folders[0].parent, named, _pair(named, beginnings))

    @property
    def single(self) -> str | None:
        """The name of the run, if the user named one."""
        return next(iter(self.named)) if len(self.named) == 1 else None

    def side_of(self, one: str, other: str) -> Json | None:
        """Return two of the runs side by side; None if these are not the names of two runs.

        Raises:
            UserError: they are not of one board, or the beginning of one cannot be read.
        """
        folders = [folder for folder in map(self.folder, (one, other)) if folder is not None]
        if len(folders) < 2 or one == other:
            return None
        beginnings = [replace(read_beginning(folder), folder=Path(folder.name)) for folder in folders]
        return _pair({one: folders[0], other: folders[1]}, beginnings)

    def family(self, name: str) -> Json | None:
        """Return the runs that share a beginning with a run; None if there is no run of this name."""
        folder = self.folder(name)
        if folder is None:
            return None
        if self.pair is not None:  # only the two are shown
            return {"path": _for_command(folder), "runs": [], "left_out": 0}
        return family(folder.parent, folder.name, _for_command(folder))

    def names(self) -> list[str]:
        """Return the names of the runs: the named ones, or all of the folder, sorted, without links."""
        if self.named:
            return list(self.named)
        return [path.name for path in runs_inside(self.root) if not path.is_symlink()]

    def folder(self, name: str) -> Path | None:
        """Return the folder of a run; None if there is no run of this name, or it belonged to another folder.

        A finished run gets its final name. It can still be found by the name that it had while in progress.
        """
        if self.single is not None and name != self.single:
            folder = self._relative(self.single, name)
        elif self.named:
            folder = self.named.get(name)
        else:
            folder = self.root / name if name in self.names() else self._renamed(name, self.root)
        if folder is not None and not folder.is_dir():
            folder = self._renamed(name, folder.parent)
        if folder is not None and PARTIAL in folder.name:
            self._under_way[name] = folder.stat().st_ino
        return folder

    def _relative(self, single: str, name: str) -> Path | None:
        """Find a run in the family of the named one; this reads all runs until it has been found once."""
        if name not in self._relatives or not self._relatives[name].is_dir():
            self._relatives = relatives(self.root, single)
        return self._relatives.get(name)

    def _renamed(self, name: str, where: Path) -> Path | None:
        """Find the folder that had another name while in progress: its inode is the same."""
        number = self._under_way.get(name)
        if number is None:
            return None
        return next((path for path in runs_inside(where) if path.lstat().st_ino == number), None)

    def episode(self, name: str) -> Episode | None:
        """Read a run, or return it from memory if its trace has not grown since; None if there is none."""
        while (folder := self.folder(name)) is not None:
            episode = self._read(name, folder)
            if folder.is_dir():
                return episode
            # The run got its final name while it was read, so some of its files were not found.
        return None

    def _read(self, name: str, folder: Path) -> Episode:
        times = sum(path.stat().st_mtime_ns for path in folder.glob("*") if not path.is_symlink())
        key = (name, folder, times, is_under_way(folder))
        with self._reading:
            if key not in self._episodes:
                self._episodes[key] = read_episode(folder, partial(self._shares.__setitem__, name))
                self._shares.pop(name, None)
                while len(self._episodes) > _KEPT:
                    self._episodes.popitem(last=False)
            return self._episodes[key]

    def progress(self, name: str) -> Json:
        """Return whether a run is in progress, the size of its trace, and how much of it has been read."""
        folder = self.folder(name)
        if folder is None:
            return {"read": 1.0, "under_way": False, "size": 0}
        files = RunFolder(folder)
        trace = files.trace_name()
        size = files.files.size(trace) if trace is not None else 0
        return {"read": self._shares.get(name, 1.0), "under_way": is_under_way(folder), "size": size}

    def last_read(self, name: str) -> Episode | None:
        """Return a run as it was last read, even if it has grown; None if there is none."""
        found = [episode for (read, *_), episode in list(self._episodes.items()) if read == name]
        return found[-1] if found and self.folder(name) is not None else self.episode(name)

    def prepare(self) -> None:
        """Read the named runs and draw the first page of each. Other requests do not wait for this."""
        for name in self.named:
            episode = self.episode(name)
            if episode is not None:
                episode.film.data(0)


def _pair(named: Mapping[str, Path], beginnings: Sequence[Beginning]) -> Json:
    """Return two runs side by side: their names, their configuration differences, and where they diverge.

    Raises:
        UserError: they are not of one board.
    """
    check_same_board(*beginnings)
    return {"runs": list(named), "differences": tuple(differences(*beginnings)), "parting": parting(*named.values())}


def _for_command(folder: Path) -> str:
    """Return a folder as a command in the current folder can name it."""
    with suppress(ValueError, OSError):
        return str(folder.relative_to(Path.cwd()))
    return str(folder)


def _resolved(folder: Path) -> Path:
    """Return the resolved path of a folder.

    Raises:
        UserError: there is no such folder.
    """
    try:
        found = folder.resolve(strict=True)
    except (OSError, RuntimeError) as error:
        raise no_such_folder(folder) from error
    if not found.is_dir():
        raise UserError(f"{folder}: it is a file; give the folder of a run or of a sweep")
    return found


def _beginning(folder: Path) -> Beginning:
    """Read the beginning of a run to be shown next to another one.

    Raises:
        UserError: it is not a run, or its beginning cannot be read.
    """
    root = _resolved(folder)
    if not is_run(root):
        raise UserError(f"{folder}: it is not a run", "A page shows two runs side by side: give the folder of each.")
    return replace(read_beginning(root), folder=folder)
