"""Damages a file or a folder in every way that a disk, a careless hand or somebody else might.

Each damage is a function of a target, a source of chance and a folder of canaries. Chance alone decides, so that a
number names an input.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import random
import shutil
import socket
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

SECRET = "THE-SECRET-OF-ANOTHER-FOLDER"
"""Stands in the canaries: nothing that is printed, served or written may hold it."""

_LARGEST = 1 << 25
"""Bytes of a file that is read here: other damages make some that no memory holds."""
_NO_OBJECT = (ValueError, RecursionError, AttributeError, TypeError)
"""What is raised where other damage has left no JSON, or no object."""

Kind = Callable[[Path, random.Random, Path], None]


@dataclass(frozen=True, slots=True)
class Damage:
    """A kind of damage.

    Attributes:
        do: damages a target.
        sort: of targets that it takes, as `sorts_of` names them.
        leads_out: whether it puts a link there, or what is no file. A user who names such a thing means it.
    """

    do: Kind
    sort: str
    leads_out: bool


DAMAGES: dict[str, Damage] = {}


def damages(sort: str, *, leads_out: bool = False) -> Callable[[Kind], Kind]:
    """Make a function a kind of damage."""

    def note(function: Kind) -> Kind:
        DAMAGES[function.__name__] = Damage(function, sort, leads_out)
        return function

    return note


@cache
def sorts_of(path: Path) -> set[str]:
    """Return what a target is: `any`, `there` or not, `folder` or `file`, and what a file holds."""
    if not os.path.lexists(path):
        return {"any"}
    if path.is_dir():
        return {"any", "there", "folder"}
    found = {"any", "there", "file"}
    data = path.read_bytes()
    if data:
        found.add("bytes")
    if data.startswith(b"SQLite"):
        found.add("database")
    with suppress(ValueError):
        if isinstance(json.loads(data.partition(b"\n")[0]), dict) and path.suffix == ".jsonl":
            found |= {"lines", "json"}
    with suppress(ValueError):
        if isinstance(json.loads(data), dict | list):
            found.add("json")
    return found | {path.suffix}


RAW = (
    b"NaN", b"Infinity", b"-Infinity", b"1e999", b"1" * 5000, b"18446744073709551616", b"-9223372036854775809",
    b'"\\ud800"', b'"\\u0000"', b"[" * 200_000, b"[" * 900 + b"]" * 900, b'{"a":' * 150 + b"1" + b"}" * 150, b"01",
    b"'a'", b"", b"{", b"1e400", b"-0", b"\xff\xfe", b'"\xed\xa0\x80"', b"tru", b'{"a":1,"a":[]}',
)  # fmt: skip
"""What may stand in place of a value, although JSON or its reader may not allow it."""
VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2, 10**9, 2**53, 2**63 - 1, 2**63, 2**64 - 1, -(2**63), 0.5, -0.0, 1e308, 5e-324, "",
    " ", "a", "x" * 100_000, "[bold]x[/bold]", "[/]", "[link=http://a]",
    "\x1b[31mred\x1b[0m", "\u202eabc", "\x00", "\n\n", "=1+1", "<script>alert(1)</script>", "${oc.env:HOME}",
    "{{ 7*7 }}", "None", "nan", "inf", "2020-01-01", "T" * 300 + "Z", [], {}, [[]], [None], [{}], [1, "a"], {"a": None},
    {"": ""}, {"name": "cube"}, {"__class__": "os"}, [0] * 1000, [""] * 5000, "__proto__", "cube", "squeeze",
    "success", "error", "simulated", "replay", "\ud83d\ude00",
)  # fmt: skip


def paths(canaries: Path) -> tuple[str, ...]:
    """Return names that lead out of a folder."""
    own = canaries.name
    return (
        "..", ".", "/", f"../../{own}/secret.txt", f"../../../{own}/run", str(canaries / "secret.txt"),
        str(canaries / "run"), str(canaries / "new"), "/dev/zero", "/proc/self/environ", f"\n{canaries}/secret.txt",
    )  # fmt: skip


def is_readable(path: Path) -> bool:
    """Whether this is a file that can be read here, also if other damage was done to it."""
    return path.is_file() and not path.is_symlink() and path.stat().st_size <= _LARGEST


def remove(target: Path) -> None:
    """Remove what there is."""
    if target.is_dir() and not target.is_symlink():
        shutil.rmtree(target)
    else:
        target.unlink(missing_ok=True)


def write(target: Path, data: bytes) -> None:
    """Put a file in the place of what there is."""
    remove(target)
    target.write_bytes(data)


# What is no file, or not the one that was written.


@damages("any", leads_out=True)
def link_to_a_canary(target: Path, chance: random.Random, canaries: Path) -> None:
    remove(target)
    like = canaries / "run" / target.name
    target.symlink_to(like if like.exists() else canaries / chance.choice(("secret.txt", "secret.json")))


@damages("any", leads_out=True)
def link_to_a_folder_of_canaries(target: Path, chance: random.Random, canaries: Path) -> None:
    like, copy = canaries / "run", canaries / f"folder{len([*canaries.iterdir()])}"  # one for each damage
    if target.is_dir():
        shutil.copytree(target, copy)
        like = chance.choice((like, copy))
    remove(target)
    target.symlink_to(like)


@damages("any", leads_out=True)
def dangling_link(target: Path, _chance: random.Random, canaries: Path) -> None:
    remove(target)
    target.symlink_to(canaries / "new")


@damages("any", leads_out=True)
def link_to_itself(target: Path, chance: random.Random, _canaries: Path) -> None:
    remove(target)
    target.symlink_to(chance.choice((target.name, ".", "..")))


@damages("any", leads_out=True)
def link_to_a_device(target: Path, chance: random.Random, _canaries: Path) -> None:
    remove(target)
    target.symlink_to(chance.choice(("/dev/zero", "/dev/full", "/proc/self/environ")))


@damages("file", leads_out=True)
def hard_link(target: Path, _chance: random.Random, canaries: Path) -> None:
    target.rename(canaries / "twin")
    target.hardlink_to(canaries / "twin")


@damages("any", leads_out=True)
def pipe(target: Path, _chance: random.Random, _canaries: Path) -> None:
    remove(target)
    os.mkfifo(target)


@damages("any", leads_out=True)
def device(target: Path, chance: random.Random, canaries: Path) -> None:
    remove(target)
    try:
        os.mknod(target, 0o020644, os.makedev(1, chance.choice((5, 8))))  # /dev/zero, /dev/random
    except PermissionError:
        link_to_a_device(target, chance, canaries)


@damages("any", leads_out=True)
def socket_of_a_server(target: Path, _chance: random.Random, _canaries: Path) -> None:
    remove(target)
    before = os.getcwd()
    with socket.socket(socket.AF_UNIX) as server:
        os.chdir(target.parent)  # an address is at most 108 bytes long
        try:
            server.bind(target.name)
        finally:
            os.chdir(before)


@damages("any", leads_out=True)
def folder(target: Path, chance: random.Random, _canaries: Path) -> None:
    remove(target)
    target.mkdir()
    if chance.random() < 0.5:
        (target / "file").touch()


@damages("there")
def missing(target: Path, _chance: random.Random, _canaries: Path) -> None:
    remove(target)


# Bytes.


@damages("any")
def empty(target: Path, _chance: random.Random, _canaries: Path) -> None:
    write(target, b"")


@damages("any")
def noise(target: Path, chance: random.Random, _canaries: Path) -> None:
    write(target, chance.randbytes(chance.choice((1, 100, 100_000))))


@damages("any")
def endless_zeros(target: Path, chance: random.Random, _canaries: Path) -> None:
    write(target, b"")
    os.truncate(target, chance.choice((900 << 20, 3 << 30, 1 << 40)))


@damages("any")
def one_long_line(target: Path, _chance: random.Random, _canaries: Path) -> None:
    write(target, b"x" * (20 << 20))


@damages("any")
def many_lines(target: Path, chance: random.Random, _canaries: Path) -> None:
    write(target, chance.choice((b"\n", b"{}\n", b"[]\n", b"a: 1\n")) * 3_000_000)


@damages("any")
def many_values(target: Path, chance: random.Random, _canaries: Path) -> None:
    write(target, b"[" + chance.choice((b"{},", b"[],", b'"",')) * 4_000_000 + b"0]\n")


@damages("any")
def no_object(target: Path, chance: random.Random, _canaries: Path) -> None:
    write(target, chance.choice((b"[]", b"1", b'""', b"null", b"{}", *RAW)))


@damages("bytes")
def cut(target: Path, chance: random.Random, _canaries: Path) -> None:
    data = target.read_bytes()
    write(target, data[: chance.randrange(len(data))])


@damages("bytes")
def bits(target: Path, chance: random.Random, _canaries: Path) -> None:
    data = bytearray(target.read_bytes())
    for _ in range(chance.choice((1, 1, 3, 30))):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    write(target, bytes(data))


@damages("file")
def content_of_its_neighbour(target: Path, chance: random.Random, _canaries: Path) -> None:
    files = [path for path in sorted(target.parent.iterdir()) if is_readable(path)]
    write(target, chance.choice(files).read_bytes())


# JSON, whole or line by line.


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the way to each value in a piece of JSON."""
    found = [path] if path else []
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inside:
        found += places(part, (*path, key))
    return found


def changed(text: bytes, chance: random.Random, canaries: Path) -> bytes:
    """Put something else in some place of a piece of JSON."""
    data = json.loads(text)
    if not (found := places(data)):
        return text
    *above, last = chance.choice(found)
    part = data
    for key in above:
        part = part[key]
    match chance.randrange(6):
        case 0:
            part[last] = "@@HERE@@"
            return json.dumps(data).encode().replace(b'"@@HERE@@"', chance.choice(RAW))
        case 1:
            del part[last]
        case 2:
            part[last] = chance.choice(paths(canaries))
        case _:
            part[last] = chance.choice(VALUES)
    return json.dumps(data).encode()


@damages("json")
def values(target: Path, chance: random.Random, canaries: Path) -> None:
    lines = [target.read_bytes()] if target.suffix != ".jsonl" else target.read_bytes().splitlines()
    for _ in range(chance.choice((1, 1, 1, 5))):
        place = chance.choice((0, len(lines) - 1, chance.randrange(len(lines))))
        with suppress(ValueError):
            lines[place] = changed(lines[place], chance, canaries)
    write(target, b"\n".join(lines) + b"\n")


@damages("lines")
def one_field_of_all_lines(target: Path, chance: random.Random, canaries: Path) -> None:
    lines = [json.loads(line) for line in target.read_bytes().splitlines()]
    like = chance.choice(lines)
    field, value = chance.choice(sorted(like)), chance.choice((*VALUES, *paths(canaries), 2**31, 10**6))
    for line in lines:
        if line.get("event") == like.get("event") and field in line:
            line[field] = value
    write(target, b"".join(json.dumps(line).encode() + b"\n" for line in lines))


@damages("lines")
def order_of_lines(target: Path, chance: random.Random, _canaries: Path) -> None:
    lines = target.read_bytes().splitlines(keepends=True)
    match chance.randrange(3):
        case 0:
            chance.shuffle(lines)
        case 1:
            del lines[chance.randrange(len(lines))]
        case _:
            lines.insert(chance.randrange(len(lines)), chance.choice(lines))
    write(target, b"".join(lines))


# Other formats.


@damages("lines")
def packed(target: Path, chance: random.Random, _canaries: Path) -> None:
    data = gzip.compress(target.read_bytes())
    if chance.random() < 0.7:
        remove(target)
    match chance.randrange(4):
        case 0:
            data = data[: chance.randrange(len(data))]
        case 1:
            data = data[:20] + chance.randbytes(20) + data[40:]
        case 2:
            data = chance.randbytes(1000)
    write(target.with_name(f"{target.name}.gz"), data)


@damages("lines")
def bomb(target: Path, chance: random.Random, _canaries: Path) -> None:
    lines = target.read_bytes().splitlines(keepends=True)
    filling = chance.choice((b" ", b"\n", b"{}\n", lines[-1], b'{"event":"new","seq":1,"t":0,"t_hat":0}\n'))
    chunk = filling * ((1 << 20) // len(filling))
    with gzip.open(target.with_name(f"{target.name}.gz"), "wb", compresslevel=1) as packer:
        packer.write(lines[0])
        for _ in range(100):
            packer.write(chunk)
    remove(target)


@damages(".yaml")
def yaml_of_all_sorts(target: Path, chance: random.Random, _canaries: Path) -> None:
    texts = (
        b"a: &a [x, x]\n" + b"".join(b"%c: &%c [*%c, *%c]\n" % (c + 1, c + 1, c, c) for c in range(97, 121)),
        b"a: &a [*a]\n", b"[" * 100_000, b"{a: " * 100_000, b"- " * 100_000, b"n: " + b"9" * 5000,
        b"n: 1" + b":1" * 3000, b"n: 2020-01-01\n", b"n: !!python/object/apply:os.system [exit]\n",
        b"!!omap [a: 1]\n", b"n: !!binary aGE=\n",
        b"<<: {a: 1}\n", b"? [a]\n: 1\n", b"1: 2\n", b'n: "\\ud800"\n', b"n: .inf\n", b"--- 1\n--- 2\n",
        b"%TAG ! a\n---\n", b"a: 1\n" * 100_000, b"k: |\n" + b" x\n" * 200_000, b"{" + b"a," * 300_000 + b"}",
        b'"' + b"\n" * 900_000 + b'"', b"a:\n" * 1000, b"\xff\xfe", b"\x00", b"",
    )  # fmt: skip
    _make_it_count(target)
    write(target, chance.choice(texts))


@damages(".yaml")
def signs_of_yaml(target: Path, chance: random.Random, _canaries: Path) -> None:
    _make_it_count(target)
    data = bytearray(target.read_bytes())
    for _ in range(chance.choice((1, 2, 10))):
        data[chance.randrange(len(data))] = chance.choice(b"{}[]&*!|>%@`'\"#-?:, \n0")
    write(target, bytes(data))


def _make_it_count(target: Path) -> None:
    """Take the configuration out of `meta.json`, which is asked first."""
    meta = target.with_name("meta.json")
    if is_readable(meta):
        with suppress(*_NO_OBJECT):
            data = json.loads(meta.read_bytes())
            data.pop("configuration", None)
            write(meta, json.dumps(data).encode())


@damages("database")
def database(target: Path, chance: random.Random, _canaries: Path) -> None:
    with closing(sqlite3.connect(target)) as cache:
        tables = [name for (name,) in cache.execute("select name from sqlite_master where type = 'table'")]
        table = chance.choice(tables)
        columns = [row[1] for row in cache.execute(f"pragma table_info({table})")]
        match chance.randrange(4):
            case 0:
                value = chance.choice((b"\xff", "x" * 10**7, 1e308, None, *(value.decode("latin-1") for value in RAW)))
                cache.execute(f"update or ignore {table} set {chance.choice(columns)} = ?", (value,))
            case 1:
                cache.execute(f"update or replace {table} set {chance.choice(columns)} = zeroblob(900000000)")
            case 2:
                cache.execute(f"drop table {table}")
                cache.execute(
                    f"create view {table} as with recursive a(n) as (select 1 union all select n + 1 from a) "
                    f"select {', '.join(f'n as {column}' for column in columns)} from a"
                )
            case _:
                cache.execute(f"alter table {table} rename to other")
        cache.commit()


def renew_digests(run: Path, chance: random.Random) -> None:
    """Remove the digests of a run, recompute them, or leave them: an attacker knows of them, too."""
    file = run / "meta.json"
    match chance.randrange(3):
        case 0:
            fresh = None
        case 1:
            files = [path for path in run.iterdir() if is_readable(path) and path != file]
            fresh = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
        case _:
            return
    if not is_readable(file):
        return
    with suppress(*_NO_OBJECT):
        meta = json.loads(file.read_bytes())
        meta.pop("files", None)
        if fresh is not None:
            meta["files"] = fresh
        write(file, json.dumps(meta).encode())
