"""Files of an untrusted folder: only regular ones are opened, and what is read of them is bounded beforehand."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import resource
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quorum.storage import run_files
from quorum.storage.run_files import MIB, DamagedFile, RunFiles

NAME = "trace.jsonl"


def link(file: Path) -> None:
    target = file.with_name("target")
    target.write_bytes(b"secret\n")
    file.symlink_to(target)


def device(file: Path) -> None:
    try:
        os.mknod(file, 0o600 | 0o020000, os.makedev(1, 5))  # /dev/zero
    except PermissionError:
        pytest.skip("only root makes devices")


def locked(file: Path) -> None:
    file.write_bytes(b"x\n")
    file.chmod(0)
    if os.geteuid() == 0:
        pytest.skip("root reads all files")


def endless(file: Path) -> None:
    """Make a file of 100 GiB that takes no room."""
    file.touch()
    os.truncate(file, 100 << 30)


NO_FILES: dict[str, tuple[Callable[[Path], None], str]] = {
    "pipe": (os.mkfifo, "it is not a file"),
    "folder": (os.mkdir, "it is not a file"),
    "device": (device, "it is not a file"),
    "link": (link, "it is a link, which is not followed"),
    "link that leads nowhere": (lambda file: file.symlink_to("nowhere"), "it is a link, which is not followed"),
    "link to itself": (lambda file: file.symlink_to(file.name), "it is a link, which is not followed"),
    "locked": (locked, "Permission denied"),
    "endless": (endless, "it is larger than"),
}


@pytest.mark.parametrize("case", NO_FILES)
def test_what_is_no_regular_file_is_refused_and_not_waited_for(tmp_path: Path, case: str) -> None:
    make, reported = NO_FILES[case]
    make(tmp_path / NAME)
    files = RunFiles(tmp_path)
    reads: list[Callable[[], object]] = [
        lambda: files.read(NAME, MIB),
        lambda: list(files.lines(NAME)),
        lambda: files.part(NAME, 0, 1),
    ]
    for read in reads:
        with pytest.raises(DamagedFile, match=rf"{NAME}: not read: {reported}"):
            read()


def test_what_is_not_there_is_distinguished_from_what_cannot_be_read(tmp_path: Path) -> None:
    files = RunFiles(tmp_path)
    assert files.read(NAME, MIB) is None
    assert not files.exists(NAME)
    with pytest.raises(FileNotFoundError):
        list(files.lines(NAME))
    (tmp_path / NAME).symlink_to("nowhere")
    assert files.exists(NAME)
    assert not files.holds(NAME)


@given(st.lists(st.binary(max_size=40).map(lambda line: line.replace(b"\n", b"")), max_size=8), st.booleans())
def test_lines_are_those_of_the_file_however_it_is_cut_into_pieces(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], packed: bool
) -> None:
    folder = tmp_path_factory.mktemp("lines")
    data = b"\n".join(lines)
    name = f"{NAME}.gz" if packed else NAME
    half = len(data) // 2
    members = gzip.compress(data[:half]) + gzip.compress(data[half:])  # as `cat a.gz b.gz` makes it
    (folder / name).write_bytes(members if packed else data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run_files, "_CHUNK", 7)
        found = list(RunFiles(folder).lines(name))
    assert b"".join(found) == data
    assert all(line.endswith(b"\n") for line in found[:-1])
    assert all(line.count(b"\n") <= 1 for line in found)


def test_a_bomb_of_gzip_is_refused_before_it_fills_the_memory(tmp_path: Path) -> None:
    line = b'{"a":1}' * 100 + b"\n"
    (tmp_path / f"{NAME}.gz").write_bytes(gzip.compress(line * (3 * run_files.LARGEST_UNPACKED // len(line)), 6))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(DamagedFile, match="unpacks to more than 64 MiB") as caught:
        for _ in RunFiles(tmp_path).lines(f"{NAME}.gz"):
            pass
    assert "gunzip" in caught.value.hint
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 << 10  # KiB


def test_a_compressed_file_that_is_larger_than_what_it_may_become_is_refused_unread(tmp_path: Path) -> None:
    (tmp_path / f"{NAME}.gz").write_bytes(b"\x1f\x8b\x08\x08" + b"a" * 100)  # the name in its head has no end
    os.truncate(tmp_path / f"{NAME}.gz", run_files.LARGEST_UNPACKED + 1)
    with pytest.raises(DamagedFile, match="larger than 64 MiB"):
        list(RunFiles(tmp_path).lines(f"{NAME}.gz"))


@pytest.mark.parametrize("damage", [lambda data: data[:-9], lambda data: data[:40] + bytes(8) + data[48:]])
def test_a_damaged_compressed_file_is_named(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    (tmp_path / f"{NAME}.gz").write_bytes(damage(gzip.compress(os.urandom(1000))))
    with pytest.raises(DamagedFile, match=rf"{NAME}.gz: damaged: "):
        list(RunFiles(tmp_path).lines(f"{NAME}.gz"))


def test_a_line_without_an_end_is_given_up(tmp_path: Path) -> None:
    (tmp_path / NAME).touch()
    os.truncate(tmp_path / NAME, 500 * MIB)  # zeros, and no room on the disk
    with pytest.raises(DamagedFile, match="a line is longer than 16 MiB"):
        list(RunFiles(tmp_path).lines(NAME))


def test_json_of_too_many_values_is_refused_before_it_is_parsed(tmp_path: Path) -> None:
    (tmp_path / "sweep.json").write_bytes(b"[" + b"[]," * run_files.MOST_VALUES + b"[]]")
    with pytest.raises(DamagedFile, match="holds more than 6,500,000 values"):
        RunFiles(tmp_path).read("sweep.json", 512 * MIB)


@pytest.mark.parametrize("packed", [False, True])
def test_what_is_not_what_the_run_wrote_is_damage(tmp_path: Path, packed: bool) -> None:
    data = b'{"a":1}\n'
    digest = hashlib.sha256(data).hexdigest()
    (tmp_path / "meta.json").write_text(json.dumps({"files": {NAME: digest, "metrics.json": digest}}))
    name = f"{NAME}.gz" if packed else NAME
    for content in (data, b'{"a":2}\n'):
        (tmp_path / name).write_bytes(gzip.compress(content) if packed else content)
        (tmp_path / "metrics.json").write_bytes(content)
        files = RunFiles(tmp_path)
        if content == data:
            assert list(files.lines(name)) == [data]
            assert files.read("metrics.json", MIB) == data
        else:
            read = files.lines(name)
            assert next(read) == content
            with pytest.raises(DamagedFile, match=rf"{name}: damaged: it is not what the run wrote"):
                next(read)
            with pytest.raises(DamagedFile, match=r"metrics\.json: damaged: it is not what the run wrote"):
                files.read("metrics.json", MIB)


@pytest.mark.parametrize("meta", ["", "[]", '{"files": 5}', '{"files": {"a": []}}', "[" * 100_000, '{"files": null}'])
def test_without_digests_that_can_be_read_nothing_is_held_against_them(tmp_path: Path, meta: str) -> None:
    (tmp_path / "meta.json").write_text(meta)
    assert RunFiles(tmp_path).digests == {}
