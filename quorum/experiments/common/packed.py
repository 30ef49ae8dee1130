"""Shards: the finished cells of a large sweep, packed into few files. `RunFiles` reads a cell of one like its folder.

<sweep>/packed/
    000001.tar.gz   the folders of up to some thousand cells, a member of gzip for each; `tar xzf` unpacks them all
    000001.index    where each cell is in it, and what `results` and a resumed sweep need of each
    000001.CELL.gone    this cell of it is to be run again

A folder of the same name next to the shards counts instead of the packed cell, and a later shard instead of an earlier
one. A shard may be untrusted: names in it are looked up and never become a path, and what is unpacked of it is bounded.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import tarfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from io import BytesIO
from itertools import accumulate
from pathlib import Path

import msgspec

from maeil import inside
from maeil.user_errors import UserError

PACKED = "packed"
"""Folder of a sweep: its shards."""
LARGEST_CELL = 64 << 20
"""Bytes of all files of a packed cell; one with more stays a folder."""
LARGEST_INDEX = 32 << 20
_ARCHIVE, _INDEX, _GONE = ".tar.gz", ".index", ".gone"
_NAME = re.compile(r"[0-9]{6}\.index")
_SCHEMA = 1
_GZIP = 16 + zlib.MAX_WBITS
_END = gzip.compress(bytes(2 * tarfile.BLOCKSIZE), mtime=0)
"""What ends an archive of tar."""
_LONG_NAME = re.compile(rb"[0-9]+ path=(.*)\n", re.DOTALL)
"""The name of the next file, in a separate header: one that is long, or not in ASCII."""
_DIGEST = 64
"""Characters of the SHA-256 that an index begins with: that of the rest."""


class DamagedShard(UserError):
    """A shard, or a cell in it, cannot be read.

    Attributes:
        file: its name in the folder of the sweep.
        reason: what is wrong.
    """

    def __init__(self, folder: Path, file: str, reason: str, hint: str = "") -> None:
        super().__init__(f"{folder / file}: {reason}", hint)
        self.file, self.reason = file, reason


class _Index(msgspec.Struct):
    schema: int
    archive: str
    names: list[str]
    ends: list[int]
    rows: msgspec.Raw
    finished: msgspec.Raw


class Shard:
    """A shard, by its index.

    Args:
        folder: of the sweep.
        number: its name, of six digits.

    Attributes:
        names: of its cells.
        rows, finished: what `quorum.experiments.results.packed_rows` keeps of them.

    Raises:
        DamagedShard: its index is damaged.
    """

    def __init__(self, folder: Path, number: str) -> None:
        self._folder = folder
        self._number = number
        self.archive, self.index = f"{PACKED}/{number}{_ARCHIVE}", f"{PACKED}/{number}{_INDEX}"
        data = self._read(self.index, 0, LARGEST_INDEX + 1)
        if len(data) > LARGEST_INDEX or hashlib.sha256(data[_DIGEST:]).hexdigest().encode() != data[:_DIGEST]:
            raise self.damaged("it is not what was written, by its SHA-256")
        try:
            index = msgspec.msgpack.decode(data[_DIGEST:], type=_Index)
        except (msgspec.DecodeError, RecursionError) as error:
            raise self.damaged(str(error)) from error
        places = [0, *index.ends]
        if index.schema > _SCHEMA:
            raise self.damaged(f"written by a newer version of Quorum (schema {index.schema})")
        if len(index.names) != len(index.ends) or places != sorted(places) or not all(map(_is_name, index.names)):
            raise self.damaged("it does not say where cells are")
        self.names, self.rows, self.finished = index.names, index.rows, index.finished
        self._digest, self._places = index.archive, places

    def damaged(self, reason: str) -> DamagedShard:
        """Make the error that the index is damaged."""
        way = f"tar xzf {self._folder / self.archive} -C {self._folder}"
        hint = f"Its cells are in the archive: {way}; then remove both files of the shard."
        return DamagedShard(self._folder, self.index, f"damaged: {reason}", hint)

    def gone(self, cell: str) -> str:
        """Return the name of the file which says that a cell is to be run again."""
        return f"{self._number}.{cell}{_GONE}"

    def is_whole(self) -> bool:
        """Whether the archive is what was written, by its SHA-256."""
        try:
            with open(inside.open_inside(self._folder, self.archive, os.O_RDONLY), "rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest() == self._digest
        except OSError:
            return False

    def files(self, place: int) -> dict[str, bytes]:
        """Unpack the files of the cell at a place, by their names in its folder.

        Raises:
            DamagedShard: they cannot be read, or are larger than `LARGEST_CELL`.
        """
        start, end = self._places[place : place + 2]
        unpacker = zlib.decompressobj(_GZIP)
        try:
            text = unpacker.decompress(self._read(self.archive, start, min(end - start, LARGEST_CELL)), LARGEST_CELL)
            if not unpacker.eof:
                raise zlib.error("cut off, or too large")
            return dict(_files_of(self.names[place], text))
        except (zlib.error, tarfile.TarError, ValueError) as error:
            raise DamagedShard(self._folder, self.archive, f"damaged: {error}") from error

    def _read(self, name: str, start: int, size: int) -> bytes:
        try:
            with open(inside.open_inside(self._folder, name, os.O_RDONLY), "rb") as file:
                file.seek(start)
                return file.read(size)
        except OSError as error:
            raise DamagedShard(self._folder, name, f"not read: {error.strerror or error}") from error


class Packed:
    """The packed cells of a folder.

    Args:
        folder: of a sweep, or any other.
        names: in its folder `packed`.

    Attributes:
        shards: those that can be read, by the name of their index, in order.
        damaged: what is wrong with the others.
        places: of each cell its shard, and its place there.
    """

    def __init__(self, folder: Path, names: Sequence[str]) -> None:
        self.shards: dict[str, Shard] = {}
        self.damaged: list[DamagedShard] = []
        for name in filter(_NAME.fullmatch, names):
            try:
                self.shards[name] = Shard(folder, name.removesuffix(_INDEX))
            except DamagedShard as damage:
                self.damaged.append(damage)
        gone = {name for name in names if name.endswith(_GONE)}
        self.places = {
            name: (shard, place)
            for shard in self.shards.values()
            for place, name in enumerate(shard.names)
            if not gone or shard.gone(name) not in gone
        }

    def names_in(self, shard: Shard) -> set[str]:
        """Return the names of the cells that count in a shard."""
        return {name for name in shard.names if self.places.get(name, (None,))[0] is shard}


def packed_in(folder: Path) -> Packed:
    """Find the packed cells of a folder; it is read again only when its shards have changed."""
    names, state = tuple(_listed(folder)), (0, 0)
    with suppress(OSError):
        status = os.stat(folder / PACKED)
        state = (status.st_ino, status.st_mtime_ns)
    return _packed(Path(os.path.abspath(folder)), names, state)


@lru_cache(maxsize=8)
def _packed(folder: Path, names: tuple[str, ...], _state: tuple[int, int]) -> Packed:
    return Packed(folder, names)


def _listed(folder: Path) -> list[str]:
    try:
        return inside.list_inside(folder, PACKED)
    except OSError:  # closed to us
        return []


def packed_files(path: Path) -> Mapping[str, bytes] | None:
    """Unpack the files of a cell; None where it is in no shard, or its folder is there.

    Args:
        path: where its folder would be.

    Raises:
        DamagedShard: they cannot be read.
    """
    if os.path.lexists(path) or (found := packed_in(path.parent).places.get(path.name)) is None:
        return None
    shard, place = found
    return shard.files(place)


def is_packed(path: Path) -> bool:
    """Whether a cell is in a shard, and its folder is not there."""
    return not os.path.lexists(path) and path.name in packed_in(path.parent).places


def as_member(name: str, files: Mapping[str, bytes]) -> bytes:
    """Return a cell as a member of an archive, by the name of its folder and those of its files."""
    text = BytesIO()
    with tarfile.open(fileobj=text, mode="w") as archive:
        for file, data in files.items():
            entry = tarfile.TarInfo(f"{name}/{file}")
            entry.size = len(data)
            archive.addfile(entry, BytesIO(data))
        end = archive.offset
    return gzip.compress(text.getvalue()[:end], 6, mtime=0)


def _files_of(cell: str, text: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a cell in an archive, by their names in its folder; what else there is, is passed over.

    `tarfile` writes archives, but it does not read this one, which may be untrusted: it follows headers of headers by
    recursion, and, up to Python 3.13.5, files of a negative size for ever.

    Raises:
        tarfile.TarError, ValueError: it is damaged.
    """
    place, long_name = 0, None
    while place < len(text):
        header = tarfile.TarInfo.frombuf(text[place : place + tarfile.BLOCKSIZE], "utf-8", "surrogateescape")
        place += tarfile.BLOCKSIZE
        data = text[place : place + max(0, header.size)]
        if len(data) != header.size:
            raise ValueError("a file is cut off")
        place += -(-header.size // tarfile.BLOCKSIZE) * tarfile.BLOCKSIZE
        if header.type == tarfile.XHDTYPE:
            if long_name is not None:
                raise ValueError("a name has several headers")
            path = _LONG_NAME.fullmatch(data)
            long_name = path[1].decode() if path is not None else None
            continue
        folder, *names = (long_name or header.name).split("/")
        if folder == cell and len(names) in (1, 2) and all(map(_is_name, names)) and header.type == tarfile.REGTYPE:
            yield "/".join(names), data
        long_name = None


def write_shard(folder: Path, members: Mapping[str, bytes], rows: bytes, finished: bytes) -> None:
    """Write cells to the next shard: it is on disk when this returns, and not there before it is whole.

    Args:
        folder: of the sweep. Only one writes to it at a time.
        members: the cells by name.
        rows: what results need of each, see `quorum.experiments.results.packed_rows`.
        finished: what a resumed sweep needs of each.

    Raises:
        OSError: it cannot be written.
    """
    archive = b"".join((*members.values(), _END))
    digest, ends = hashlib.sha256(archive).hexdigest(), list(accumulate(map(len, members.values())))
    raw = msgspec.Raw(rows), msgspec.Raw(finished)
    index = msgspec.msgpack.encode(_Index(_SCHEMA, digest, list(members), ends, *raw))
    inside.make_inside(folder, PACKED)
    number = max((int(name[:6]) for name in _listed(folder) if _NAME.fullmatch(name)), default=0) + 1
    # A kill between the two names leaves an index whose cells all have their folders still, which count instead.
    files = {_INDEX: hashlib.sha256(index).hexdigest().encode() + index, _ARCHIVE: archive}
    inside.write_inside(folder, {f"{PACKED}/{number:06}{kind}": data for kind, data in files.items()})


def unpack(path: Path) -> None:
    """Give a cell that is packed its folder back, whole or not at all; from then on the folder counts.

    Raises:
        DamagedShard: it cannot be read.
        OSError: it cannot be written.
    """
    files = packed_files(path)
    if files is None:
        return
    folder, passing = path.parent, f"{PACKED}/.{path.name}"
    inside.remove_inside(folder, passing)
    inside.make_inside(folder, passing)
    for name in files:
        inside.make_inside(folder, os.path.dirname(f"{passing}/{name}"))
    inside.write_inside(folder, {f"{passing}/{name}": data for name, data in files.items()})
    inside.move_inside(folder, passing, path.name)
    inside.sync_folder(folder)


def drop(path: Path) -> None:
    """Let a packed cell count no more, since it is to be run again; what can be read of it gets its folder back.

    Raises:
        OSError: nothing can be written.
    """
    place = packed_in(path.parent).places.get(path.name)
    if place is not None:
        with suppress(DamagedShard):
            unpack(path)
        inside.write_inside(path.parent, {f"{PACKED}/{place[0].gone(path.name)}": b""})


def clear_packed(folder: Path) -> None:
    """Remove what a killed command left half-written or half-removed among the shards."""
    for name in _listed(folder):
        if name.startswith("."):
            inside.remove_inside(folder, f"{PACKED}/{name}")


def remove_folder(folder: Path, name: str) -> None:
    """Remove the folder of a cell that is packed now: it is there whole or not at all."""
    inside.move_inside(folder, name, f"{PACKED}/.{name}")
    inside.remove_inside(folder, f"{PACKED}/.{name}")


def _is_name(name: str) -> bool:
    return name not in ("", ".", "..") and "/" not in name and "\0" not in name
