"""Damages a folder of a run in every way that a disk, a careless hand or somebody else might.

Each kind is a function of a folder and a source of chance. Chance alone decides, so that a number names an input.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import json
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

FILES = ("meta.json", "metrics.json", "config.yaml", "trace.jsonl", "calls.jsonl")
SECRET = "THE-SECRET-OF-ANOTHER-FOLDER"
"""Stands in a file next to the runs: nothing that is printed or written may hold it."""

Kind = Callable[[Path, random.Random], None]
KINDS: dict[str, Kind] = {}


def kind(function: Kind) -> Kind:
    KINDS[function.__name__] = function
    return function


RAW = (
    b"NaN", b"Infinity", b"-Infinity", b"1e999", b"1" * 5000, b"18446744073709551616", b"-9223372036854775809",
    b'"\\ud800"', b'"\\u0000"', b"[" * 200_000, b"[" * 900 + b"]" * 900, b'{"a":' * 150 + b"1" + b"}" * 150, b"01",
    b"'a'", b"", b"{", b"1e400", b"-0", b"\xff\xfe", b'"\xed\xa0\x80"', b"tru",
)  # fmt: skip
"""What may stand in place of a value, although JSON or its reader may not allow it."""
VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2, 10**9, 2**53, 2**63 - 1, 2**63, 2**64 - 1, -(2**63), 0.5, -0.0, 1e308, 5e-324, "",
    " ", "a", "x" * 100_000, "../../secret.txt", "/dev/zero", "/etc/passwd", "[bold]x[/bold]", "[/]", "[link=http://a]",
    "\x1b[31mred\x1b[0m", "\u202eabc", "\x00", "\n\n", "=1+1", "<script>alert(1)</script>", "${oc.env:HOME}",
    "{{ 7*7 }}", "None", "nan", "inf", "2020-01-01", "T" * 300 + "Z", [], {}, [[]], [None], [{}], [1, "a"], {"a": None},
    {"": ""}, {"name": "cube"}, {"__class__": "os"}, [0] * 1000, "cube", "squeeze", "success", "error", "simulated",
    "\ud83d\ude00",
)  # fmt: skip


def write(file: Path, data: bytes) -> None:
    if file.is_symlink() or file.exists():
        remove(file)
    file.write_bytes(data)


def remove(file: Path) -> None:
    if file.is_dir() and not file.is_symlink():
        shutil.rmtree(file)
    else:
        file.unlink(missing_ok=True)


def some_file(run: Path, chance: random.Random) -> Path:
    return run / chance.choice([name for name in FILES if (run / name).exists()])


# what is no file


@kind
def pipe(run: Path, chance: random.Random) -> None:
    file = some_file(run, chance)
    remove(file)
    os.mkfifo(file)


@kind
def folder(run: Path, chance: random.Random) -> None:
    file = some_file(run, chance)
    remove(file)
    file.mkdir()


@kind
def device(run: Path, chance: random.Random) -> None:
    file = some_file(run, chance)
    remove(file)
    try:
        os.mknod(file, 0o020644, os.makedev(1, chance.choice((5, 8))))  # /dev/zero, /dev/random
    except PermissionError:
        file.symlink_to("/dev/zero")


@kind
def link(run: Path, chance: random.Random) -> None:
    file = some_file(run, chance)
    remove(file)
    outside = [
        run.parent / "secret.txt",
        run.parent / "secret.json",
        "/dev/zero",
        "/proc/self/environ",
        "nowhere",
        file.name,
    ]
    file.symlink_to(chance.choice(outside))


@kind
def link_to_a_good_run(run: Path, chance: random.Random) -> None:
    good = next(path for path in run.parent.iterdir() if path.name.startswith("good"))
    file = some_file(run, chance)
    remove(file)
    file.symlink_to(good / file.name)


@kind
def missing(run: Path, chance: random.Random) -> None:
    for _ in range(chance.randint(1, 3)):
        with contextlib.suppress(IndexError):
            remove(some_file(run, chance))


@kind
def socket_of_a_server(run: Path, chance: random.Random) -> None:
    import socket

    file = some_file(run, chance)
    remove(file)
    before = os.getcwd()
    with socket.socket(socket.AF_UNIX) as server:
        os.chdir(run)  # an address is at most 108 bytes long
        try:
            server.bind(file.name)
        finally:
            os.chdir(before)


# bytes


@kind
def empty(run: Path, chance: random.Random) -> None:
    write(some_file(run, chance), b"")


@kind
def zeros(run: Path, chance: random.Random) -> None:
    file = some_file(run, chance)
    write(file, bytes(file.stat().st_size))


@kind
def endless_zeros(run: Path, chance: random.Random) -> None:
    file = some_file(run, chance)
    write(file, b"")
    os.truncate(file, chance.choice((900 << 20, 3 << 30, 1 << 40)))


@kind
def cut(run: Path, chance: random.Random) -> None:
    file = some_file(run, chance)
    data = file.read_bytes()
    write(file, data[: chance.randrange(len(data))])


@kind
def bits(run: Path, chance: random.Random) -> None:
    file = some_file(run, chance)
    data = bytearray(file.read_bytes())
    for _ in range(chance.choice((1, 1, 3, 30))):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    write(file, bytes(data))


@kind
def noise(run: Path, chance: random.Random) -> None:
    write(some_file(run, chance), chance.randbytes(chance.choice((1, 100, 100_000))))


@kind
def swapped_files(run: Path, chance: random.Random) -> None:
    one, other = some_file(run, chance), some_file(run, chance)
    first, second = one.read_bytes(), other.read_bytes()
    write(one, second)
    write(other, first)


@kind
def one_long_line(run: Path, chance: random.Random) -> None:
    write(some_file(run, chance), b"x" * (20 << 20))


@kind
def many_short_lines(run: Path, chance: random.Random) -> None:
    write(run / chance.choice(("trace.jsonl", "calls.jsonl")), chance.choice((b"\n", b"{}\n", b"[]\n")) * 3_000_000)


@kind
def lines_shuffled(run: Path, chance: random.Random) -> None:
    file = run / chance.choice(("trace.jsonl", "calls.jsonl"))
    if file.exists():
        lines = file.read_bytes().splitlines(keepends=True)
        match chance.randrange(3):
            case 0:
                chance.shuffle(lines)
            case 1:
                del lines[chance.randrange(len(lines))]
            case _:
                lines.insert(chance.randrange(len(lines)), chance.choice(lines))
        write(file, b"".join(lines))


# JSON


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inside:
        found += places(part, (*path, key))
    return found


def with_value(data: Any, path: tuple[Any, ...], value: Any) -> Any:
    part = data
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = value
    return data


def dumped(data: Any) -> bytes:
    return json.dumps(data).encode()  # with surrogates escaped


def changed(text: bytes, chance: random.Random) -> bytes:
    """Put another value in some place of a piece of JSON."""
    data = json.loads(text)
    path = chance.choice(places(data))
    match chance.randrange(4):
        case 0:
            mark = "@@HERE@@"
            return dumped(with_value(data, path, mark)).replace(f'"{mark}"'.encode(), chance.choice(RAW))
        case 1:
            part = data
            for key in path[:-1]:
                part = part[key]
            del part[path[-1]]
            return dumped(data)
        case _:
            return dumped(with_value(data, path, chance.choice(VALUES)))


@kind
def values_of_meta(run: Path, chance: random.Random) -> None:
    write(run / "meta.json", changed((run / "meta.json").read_bytes(), chance))


@kind
def values_of_the_configuration(run: Path, chance: random.Random) -> None:
    data = json.loads((run / "meta.json").read_bytes())
    for _ in range(chance.choice((1, 1, 4))):
        path = chance.choice(places(data["configuration"]))
        with contextlib.suppress(KeyError, IndexError, TypeError):
            with_value(data["configuration"], path, chance.choice(VALUES))
    write(run / "meta.json", dumped(data))


@kind
def values_of_metrics(run: Path, chance: random.Random) -> None:
    write(run / "metrics.json", changed((run / "metrics.json").read_bytes(), chance))


def lines_changed(file: Path, chance: random.Random) -> None:
    if not file.exists():
        return
    lines = file.read_bytes().splitlines()
    for _ in range(chance.choice((1, 1, 5))):
        place = chance.choice((0, len(lines) - 1, chance.randrange(len(lines))))
        with contextlib.suppress(ValueError, KeyError, IndexError):
            lines[place] = changed(lines[place], chance)
    write(file, b"\n".join(lines) + b"\n")


@kind
def values_of_events(run: Path, chance: random.Random) -> None:
    lines_changed(run / "trace.jsonl", chance)


@kind
def values_of_one_kind_of_event(run: Path, chance: random.Random) -> None:
    events = [json.loads(line) for line in (run / "trace.jsonl").read_bytes().splitlines()]
    chosen = chance.choice(sorted({event["event"] for event in events}))
    field = chance.choice(sorted({key for event in events if event["event"] == chosen for key in event}))
    value = chance.choice(VALUES)
    for event in events:
        if event["event"] == chosen:
            event[field] = value
    write(run / "trace.jsonl", b"".join(dumped(event) + b"\n" for event in events))


@kind
def values_of_calls(run: Path, chance: random.Random) -> None:
    lines_changed(run / "calls.jsonl", chance)


@kind
def no_object(run: Path, chance: random.Random) -> None:
    write(run / chance.choice(("meta.json", "metrics.json")), chance.choice((b"[]", b"1", b'""', b"null", b"{}", *RAW)))


@kind
def values_by_the_million(run: Path, chance: random.Random) -> None:
    file = run / chance.choice(("meta.json", "metrics.json", "trace.jsonl", "calls.jsonl"))
    write(file, b"[" + chance.choice((b"{},", b"[],", b'"",')) * 4_000_000 + b"0]\n")


# YAML


@kind
def yaml_of_all_sorts(run: Path, chance: random.Random) -> None:
    meta = json.loads((run / "meta.json").read_bytes())
    if chance.random() < 0.8:
        meta.pop("configuration")  # so that config.yaml is what counts
    write(run / "meta.json", dumped(meta))
    texts = (
        b"a: &a [x, x]\n" + b"".join(b"%c: &%c [*%c, *%c]\n" % (c + 1, c + 1, c, c) for c in range(97, 121)),
        b"a: &a [*a]\n", b"[" * 100_000, b"{a: " * 100_000, b"- " * 100_000, b"n: " + b"9" * 5000,
        b"n: 1" + b":1" * 3000, b"n: 2020-01-01\n", b"n: !!python/object/apply:os.system [exit]\n",
        b"!!omap [a: 1]\n", b"n: !!binary aGE=\n",
        b"<<: {a: 1}\n", b"? [a]\n: 1\n", b"1: 2\n", b'n: "\\ud800"\n', b"n: .inf\n", b"--- 1\n--- 2\n",
        b"%TAG ! a\n---\n", b"a: 1\n" * 100_000, b"k: |\n" + b" x\n" * 200_000, b"{" + b"a," * 300_000 + b"}",
        b'"' + b"\n" * 900_000 + b'"', b"a:\n" * 1000, b"\xff\xfe", b"\x00", b"",
    )  # fmt: skip
    write(run / "config.yaml", chance.choice(texts))


@kind
def yaml_bits(run: Path, chance: random.Random) -> None:
    meta = json.loads((run / "meta.json").read_bytes())
    meta.pop("configuration")
    write(run / "meta.json", dumped(meta))
    data = bytearray((run / "config.yaml").read_bytes())
    for _ in range(chance.choice((1, 2, 10))):
        data[chance.randrange(len(data))] = chance.choice(b"{}[]&*!|>%@`'\"#-?:, \n0")
    write(run / "config.yaml", bytes(data))


# compressed


@kind
def packed(run: Path, chance: random.Random) -> None:
    data = gzip.compress((run / "trace.jsonl").read_bytes())
    if chance.random() < 0.7:
        remove(run / "trace.jsonl")
    match chance.randrange(4):
        case 0:
            data = data[: chance.randrange(len(data))]
        case 1:
            data = data[:20] + chance.randbytes(20) + data[40:]
        case 2:
            data = chance.randbytes(1000)
    write(run / "trace.jsonl.gz", data)


@kind
def bomb(run: Path, chance: random.Random) -> None:
    lines = (run / "trace.jsonl").read_bytes().splitlines(keepends=True)
    filling = chance.choice((b" ", b"\n", b"{}\n", lines[1], b'{"event":"new","seq":1,"t":0,"t_hat":0}\n'))
    with gzip.open(run / "trace.jsonl.gz", "wb", compresslevel=1) as packer:
        packer.write(lines[0])
        chunk = filling * ((1 << 20) // len(filling))
        for _ in range(chance.choice((100, 300))):
            packer.write(chunk)
    remove(run / "trace.jsonl")


# ways out of the folder


@kind
def names_of_files(run: Path, chance: random.Random) -> None:
    meta = json.loads((run / "meta.json").read_bytes())
    path = chance.choice(
        (
            str(run.parent / "secret.txt"),
            "../secret.txt",
            "/dev/zero",
            "/proc/self/environ",
            f"\n{run.parent}/secret.txt",
        )
    )
    match chance.randrange(4):
        case 0:
            meta["configuration"]["env"] = {**meta["configuration"]["env"], "name": "cube", "layout": path}
        case 1:
            meta["configuration"]["env"]["layout"] = path
        case 2:
            meta["configuration"]["prompts"] = {"folder": path}
            meta["configuration"]["llm"] = {"name": "replay", "run": path}
        case _:
            meta["files"] = {"../secret.txt": "0" * 64, "/etc/passwd": "0", path: "", "trace.jsonl": "x"}
    write(run / "meta.json", dumped(meta))


@kind
def a_run_that_replays_itself(run: Path, _chance: random.Random) -> None:
    meta = json.loads((run / "meta.json").read_bytes())
    meta["configuration"]["llm"] = {"name": "replay", "run": str(run)}
    write(run / "meta.json", dumped(meta))
    write(run / "config.yaml", dumped(meta["configuration"]))


@kind
def another_name_for_each_agent(run: Path, chance: random.Random) -> None:
    events = [json.loads(line) for line in (run / "trace.jsonl").read_bytes().splitlines()]
    events[0]["agents"] = chance.choice(([], [""] * 5000, ["a"], [VALUES[26]] * 2, ["__proto__", "constructor"]))
    write(run / "trace.jsonl", b"".join(dumped(event) + b"\n" for event in events))


@kind
def times_far_away(run: Path, chance: random.Random) -> None:
    events = [json.loads(line) for line in (run / "trace.jsonl").read_bytes().splitlines()]
    value = chance.choice((2**31, 2**53, 2**63 - 1, 1e308, 10**6))
    for event in events[chance.randrange(len(events)) :]:
        event[chance.choice(("t", "t_hat"))] = value
    write(run / "trace.jsonl", b"".join(dumped(event) + b"\n" for event in events))


def damage(run: Path, chance: random.Random, name: str | None = None) -> str:
    """Damage a run by the named kind, or by one that is drawn; return the name of the kind.

    An attacker knows of the digests, too: mostly they are removed or recomputed.
    """
    name = name or chance.choice(sorted(KINDS))
    match chance.randrange(3):
        case 0:
            digests(run, fresh=False)
            KINDS[name](run, chance)
        case 1:
            KINDS[name](run, chance)
            digests(run, fresh=True)
        case _:
            KINDS[name](run, chance)
    return name


def digests(run: Path, *, fresh: bool) -> None:
    """Remove the digests of a run, or recompute them, if that can be done."""
    file = run / "meta.json"
    if not file.is_file() or file.is_symlink() or file.stat().st_size > 1 << 20:
        return
    with contextlib.suppress(ValueError, RecursionError, AttributeError):
        meta = json.loads(file.read_bytes())
        meta.pop("files", None)
        if fresh:
            regular = [path for path in run.iterdir() if path.is_file() and not path.is_symlink() and path != file]
            small = [path for path in regular if path.stat().st_size < 1 << 25]
            meta["files"] = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in small}
        write(file, dumped(meta))
