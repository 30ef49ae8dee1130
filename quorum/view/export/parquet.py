"""Three tables as Parquet files: `runs`, `events` and `calls`, written by DuckDB, one run after the other."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import orjson

from quorum.installation.packages import load
from quorum.runs.sql import result_types
from quorum.view.export.episodes import Runs
from quorum_base.user_errors import UserError

FILES: tuple[str, ...] = ("runs.parquet", "events.parquet", "calls.parquet")
TEXTS = False

_EVENTS = {
    "run": "VARCHAR", "seq": "BIGINT", "t": "BIGINT", "t_hat": "DOUBLE", "wall": "DOUBLE", "event": "VARCHAR",
    "data": "VARCHAR",
}  # fmt: skip
_CALLS = {
    "run": "VARCHAR", "number": "BIGINT", "agent": "VARCHAR", "t": "BIGINT", "role": "VARCHAR", "model": "VARCHAR",
    "finish": "VARCHAR", "failure": "VARCHAR", "prompt_tokens": "BIGINT", "completion_tokens": "BIGINT",
    "cached_tokens": "BIGINT", "reasoning_tokens": "BIGINT", "usd": "DOUBLE", "seconds": "DOUBLE",
    "cache_hit": "BOOLEAN", "simulated": "BOOLEAN",
}  # fmt: skip
_TEXTS = {"messages": "STRUCT(role VARCHAR, content VARCHAR)[]", "answer": "VARCHAR"}


def write(runs: Runs, folder: Path) -> None:
    """Write the three files into a folder.

    Raises:
        UserError: DuckDB is not installed or rejects the data, or a run cannot be read.
    """
    duckdb = load("duckdb", "analysis", "--to parquet and --to hf")
    lines = {name: folder / f"{name}.jsonl" for name in FILES}
    types: tuple[Mapping[str, str], ...] = (result_types(runs.rows), _EVENTS, _CALLS | (_TEXTS if runs.texts else {}))
    longest = 1 << 20
    with lines[FILES[0]].open("wb") as rows, lines[FILES[1]].open("wb") as events, lines[FILES[2]].open("wb") as calls:
        rows.writelines(orjson.dumps(row.shown_record(), option=orjson.OPT_APPEND_NEWLINE) for row in runs.rows)
        for episode in runs.episodes():
            for event in episode.events():
                line = episode.json({**event, "data": episode.json(event["data"]).decode().rstrip()})
                longest = max(longest, events.write(line))
            for call in episode.calls():
                longest = max(longest, calls.write(episode.json(call)))
    try:
        with duckdb.connect(":memory:", config={"autoinstall_known_extensions": False}) as connection:
            for name, columns in zip(FILES, types, strict=True):
                found = connection.read_json(
                    str(lines[name]), columns=columns, format="newline_delimited", maximum_object_size=longest + 1
                )
                found.to_parquet(str(folder / name), compression="zstd")
    except duckdb.Error as error:
        raise UserError(f"--to parquet: DuckDB rejects the data: {error}") from error
