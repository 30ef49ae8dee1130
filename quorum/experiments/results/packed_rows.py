"""What shards keep of each cell for results and for resumed sweeps, so that its own files need not be read.

Rows are kept by column: what all cells of a shard share is there once, on disk and in memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, Generic, TypeVar, get_type_hints

import msgspec

from quorum.experiments.common.packed import Shard, packed_in
from quorum.experiments.configuration.origin import Origin, Scalar, read_origin
from quorum.experiments.results.finished import FinishedCell
from quorum.experiments.results.rows import Damaged, Row
from quorum.experiments.results.run_folder import RunFolder

T = TypeVar("T")


class _Table(msgspec.Struct):
    """Objects of one class by column, which has one value where it is that of all."""

    number: int
    own: dict[str, list[Any]]
    factors: dict[str, list[Scalar]] = {}
    metrics: dict[str, list[float | None]] = {}


class SharedKeys(Mapping[str, T], Generic[T]):
    """A mapping whose keys are those of many others: its memory is that of its values.

    Args:
        places: of the keys in the values.
        values: in the order of the keys.
    """

    __slots__ = ("_places", "_values")

    def __init__(self, places: Mapping[str, int], values: Sequence[T]) -> None:
        self._places, self._values = places, values

    def __getitem__(self, key: str) -> T:
        return self._values[self._places[key]]

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def get(self, key: str, default: Any = None) -> Any:
        """Return the value of a key, or the default where it has none."""
        place = self._places.get(key)
        return default if place is None else self._values[place]

    def values(self) -> Any:
        """Return the values in the order of the keys."""
        return self._values

    def items(self) -> Any:
        """Return pairs of a key and its value."""
        return zip(self._places, self._values, strict=True)


_OWN = {name: kind for name, kind in get_type_hints(Row).items() if name not in ("folder", "factors", "metrics")}
_FINISHED = get_type_hints(FinishedCell)


def pack_rows(rows: Sequence[Row]) -> bytes:
    """Return rows as a shard keeps them: a table for those with the same keys."""
    alike: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        alike.setdefault((tuple(row.factors), tuple(row.metrics)), []).append(row)
    tables = [
        _Table(
            len(group),
            _columns([{name: _plain(getattr(row, name)) for name in _OWN} for row in group]),
            _columns([row.factors for row in group]),
            _columns([row.metrics for row in group]),
        )
        for group in alike.values()
    ]
    return msgspec.msgpack.encode(tables)


def pack_finished(cells: Sequence[FinishedCell]) -> bytes:
    """Return finished cells as a shard keeps them."""
    return msgspec.msgpack.encode(
        _Table(len(cells), _columns([{f.name: getattr(c, f.name) for f in fields(c)} for c in cells]))
    )


def packed_rows(folder: Path) -> Iterator[Row | Damaged]:
    """Return the rows of the packed cells of a folder, in any order; each shard that is damaged is named."""
    packed = packed_in(folder)
    yield from (Damaged(damage.file, damage.reason) for damage in packed.damaged)
    for shard in packed.shards.values():
        here = packed.names_in(shard)
        try:
            found: list[Row | Damaged] = list(_rows(folder, shard))
        except (ValueError, msgspec.DecodeError, RecursionError):  # untrusted, or of another version
            found = [RunFolder(folder / name).row() for name in here]
        yield from (row for row in found if row.name in here)


def packed_finished(folder: Path, shard: Shard) -> Mapping[str, FinishedCell]:
    """Return the cells that count in a shard whose archive is whole, by name; none where it must be read by cell."""
    here = packed_in(folder).names_in(shard)
    if not here or not shard.is_whole():
        return {}
    try:
        table = msgspec.msgpack.decode(shard.finished, type=_Table)
        found = [FinishedCell(*values) for values in _own(table, _FINISHED)]
    except (ValueError, msgspec.DecodeError, RecursionError):
        return {}
    return {cell.name: cell for cell in found if cell.name in here}


def _columns(records: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    columns = {key: [record[key] for record in records] for key in records[0]}
    return {key: column[:1] if len(set(map(repr, column))) == 1 else column for key, column in columns.items()}


def _rows(folder: Path, shard: Shard) -> Iterator[Row]:
    tables = msgspec.msgpack.decode(shard.rows, type=list[_Table])
    if sum(table.number for table in tables) != len(shard.names):
        raise ValueError("it has not a row for each cell")
    for table in tables:
        factors, metrics = (_mappings(columns, table.number) for columns in (table.factors, table.metrics))
        for own, factor, metric in zip(_own(table, _OWN), factors, metrics, strict=True):
            row = dict(zip(_OWN, own, strict=True))
            yield Row(folder=folder / row["name"], factors=factor, metrics=metric, **row)


def _own(table: _Table, kinds: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
    """Return the fields of each object of a table.

    Raises:
        ValueError: a column is missing, of another type, or of another length.
    """
    if table.own.keys() != kinds.keys():
        raise ValueError("it was written by a version with other fields")
    columns = [
        msgspec.convert(table.own[name], list[kind], dec_hook=_of_plain)  # type: ignore[valid-type]
        for name, kind in kinds.items()
    ]
    return zip(*(_all(column, table.number) for column in columns), strict=True)


def _plain(value: Any) -> Any:
    return value.plain() if isinstance(value, Origin) else value


def _of_plain(_: type, value: Any) -> Any:
    """Read an origin, the only value of a row that is no plain data."""
    return read_origin(value)


def _mappings(columns: Mapping[str, list[T]], number: int) -> Iterable[SharedKeys[T]]:
    places = {key: place for place, key in enumerate(columns)}
    values = zip(*(_all(column, number) for column in columns.values()), strict=True) if columns else [()] * number
    return [SharedKeys(places, value) for value in values]


def _all(column: list[T], number: int) -> list[T]:
    if len(column) not in (1, number):
        raise ValueError("a column has another length")
    return column * number if len(column) == 1 else column
