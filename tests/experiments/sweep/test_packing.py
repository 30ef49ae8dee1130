"""A large sweep is packed: its cells move into shards of two files, and every reader finds them there as before."""

from __future__ import annotations

import gzip
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maeil.user_errors import UserError
from quorum.experiments.common import packed
from quorum.experiments.common.packed import PACKED, DamagedShard, as_member, is_packed, packed_in, unpack, write_shard
from quorum.experiments.common.run_files import DamagedFile, RunFiles
from quorum.experiments.results import as_csv, read_results
from quorum.experiments.results.finished import RETRIED, finished_cell
from quorum.experiments.results.packed_rows import pack_finished, pack_rows, packed_finished
from quorum.experiments.results.recorded_episode import open_episode
from quorum.experiments.results.verify import check_folder
from quorum.experiments.sweep import packing
from quorum.experiments.sweep.packing import pack
from tests.conftest import FORKS, Quorum
from tests.experiments.sweep.conftest import Sweep

TALK = ("agents=asker", "llm=parrot", "n=1", "env.length=2,3", "seed=0,1")
WALK = ("agents=walker", "n=1,2", "env.length=2,3", "seed=0,1")
Files = Mapping[str, Mapping[str, bytes]]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pack every sweep, three cells a shard."""
    monkeypatch.setattr(packing, "FROM", 0)
    monkeypatch.setattr(packing, "CELLS", 3)


def files_of(folder: Path) -> Files:
    """Give the files of the cells that have a folder, by cell and name."""
    cells = [path.parent for path in folder.glob("*/meta.json")]
    return {
        cell.name: {f.relative_to(cell).as_posix(): f.read_bytes() for f in cell.rglob("*") if f.is_file()}
        for cell in cells
    }


def read_back(folder: Path, cells: Files) -> Files:
    """Give the same files as readers of a run find them."""
    return {
        name: {file: RunFiles(folder / name).part(file, 0, 1 << 30) for file in files} for name, files in cells.items()
    }


def pack_all(folder: Path) -> None:
    packing.pack(folder, [finished_cell(path.parent) for path in sorted(folder.glob("*/meta.json"))])


@pytest.fixture
def loose(sweep: Sweep, tmp_path: Path) -> Path:
    """Play a small sweep that is not packed."""
    sweep(*WALK)
    return tmp_path / "s"


def test_packed_cells_read_like_their_folders(sweep: Sweep, tmp_path: Path) -> None:
    sweep(*TALK)
    folder = tmp_path / "s"
    cells, rows, table = files_of(folder), read_results(folder).rows, as_csv(read_results(folder))
    assert all({"calls.jsonl", "trace.jsonl"} <= files.keys() for files in cells.values())
    finished = {name: finished_cell(folder / name) for name in cells}
    pack_all(folder)
    assert sorted(os.listdir(folder / PACKED)) == ["000001.index", "000001.tar.gz"]
    assert not files_of(folder)
    assert read_back(folder, cells) == cells
    assert read_results(folder).rows == rows
    assert as_csv(read_results(folder)) == table
    (shard,) = packed_in(folder).shards.values()
    assert packed_finished(folder, shard) == {name: finished_cell(folder / name) for name in cells} == finished
    check = check_folder(folder)
    assert (len(check.runs), check.damaged, check.missing) == (len(cells), (), ())


def test_tar_unpacks_a_shard(loose: Path, tmp_path: Path) -> None:
    cells = files_of(loose)
    pack_all(loose)
    (tmp_path / "away").mkdir()
    subprocess.run(["tar", "xzf", loose / PACKED / "000001.tar.gz", "-C", tmp_path / "away"], check=True)
    assert files_of(tmp_path / "away") == cells


names = st.text(st.characters(codec="utf-8", exclude_characters="/\0"), min_size=1, max_size=40).filter(
    lambda name: name not in (".", "..")
)
contents = st.dictionaries(
    names, st.dictionaries(names, st.binary(max_size=2000), min_size=1, max_size=4), min_size=1, max_size=5
)


@given(contents)
def test_every_file_of_every_cell_comes_back(cells: Files) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        write_shard(Path(name), {cell: as_member(cell, files) for cell, files in cells.items()}, b"\xc0", b"\xc0")
        for cell, files in cells.items():
            shard, place = packed_in(Path(name)).places[cell]
            assert shard.files(place) == files


def test_a_sweep_packs_as_it_goes_and_resumes(sweep: Sweep, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "s"
    first = sweep(*WALK, limit=2)
    assert not (folder / PACKED).exists()
    monkeypatch.setattr(packing, "FROM", 7)
    monkeypatch.setattr(packing, "CELLS", 3)
    second = sweep(*WALK)
    assert (len(first.finished), second.before, len(second.finished)) == (2, 2, 6)
    assert len(os.listdir(folder / PACKED)) == 2 * 3  # 8 cells, at most 3 a shard
    assert not files_of(folder)
    third = sweep(*WALK)
    assert (third.before, len(third.finished), third.left) == (8, 0, 0)
    assert len(read_results(folder).rows) == 8


def _packed_until(folder: Path, step: int) -> None:
    """Pack all cells, and be killed before so many steps that change the folder."""
    left = step

    def watch(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal left
        writes = event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR)
        if writes or event in ("os.rename", "os.remove", "os.rmdir", "os.mkdir"):
            left -= 1
            if left < 0:
                os._exit(9)

    cells = [finished_cell(path.parent) for path in sorted(folder.glob("*/meta.json"))]
    sys.addaudithook(watch)
    packing.pack(folder, cells)
    os._exit(0)


def test_a_kill_at_any_step_loses_nothing_and_shows_no_half_shard(sweep: Sweep, tmp_path: Path, small: None) -> None:
    words = ("agents=walker", "n=1", "env.length=2", "seed=0,1")
    sweep(*words, limit=0)
    original, folder = tmp_path / "original", tmp_path / "s"
    packing.FROM = 100
    sweep(*words)
    cells, table = files_of(folder), as_csv(read_results(folder))
    folder.rename(original)
    for step in range(100):
        shutil.copytree(original, folder)
        process = FORKS.Process(target=_packed_until, args=(folder, step))
        process.start()
        process.join()
        assert as_csv(read_results(folder)) == table
        assert read_back(folder, cells) == cells
        packing.FROM = 0
        again = sweep(*words)
        packing.FROM = 100
        assert (again.before, len(again.finished), again.damaged) == (2, 0, {})
        assert not files_of(folder)
        assert read_back(folder, cells) == cells
        assert not [name for name in os.listdir(folder / PACKED) if name.startswith(".")]
        shutil.rmtree(folder)
        if process.exitcode == 0:
            break
    assert 10 < step < 99


def test_a_folder_counts_instead_of_the_packed_cell(loose: Path, sweep: Sweep) -> None:
    pack_all(loose)
    name = read_results(loose).rows[0].name
    unpack(loose / name)
    meta = json.loads((loose / name / "meta.json").read_text())
    (loose / name / "meta.json").write_text(json.dumps({**meta, "reason": "mine"}))
    assert [row.name for row in read_results(loose).rows if row.reason == "mine"] == [name]
    assert len(read_results(loose).rows) == 8
    pack_all(loose)
    assert is_packed(loose / name)
    assert [row.name for row in read_results(loose).rows if row.reason == "mine"] == [name]
    assert sweep(*WALK).before == 8


def flip(file: Path, place: int) -> None:
    data = bytearray(file.read_bytes())
    data[place] ^= 0xFF
    file.write_bytes(data)


def test_a_damaged_archive_costs_only_the_cells_that_are_damaged(loose: Path, sweep: Sweep, small: None) -> None:
    pack_all(loose)
    table = as_csv(read_results(loose))
    flip(loose / PACKED / "000001.tar.gz", 200)
    (damaged,) = check_folder(loose).damaged
    with pytest.raises(DamagedFile, match=r"meta\.json: packed/000001\.tar\.gz: damaged: "):
        finished_cell(loose / damaged.name)
    again = sweep(*WALK)
    assert [done.name for done in again.finished] == [damaged.name] == list(again.damaged)
    assert as_csv(read_results(loose)) == table
    assert sweep(*WALK).before == 8
    assert not check_folder(loose).damaged


def test_a_damaged_index_is_named_and_tar_brings_its_cells_back(
    loose: Path, sweep: Sweep, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packing, "LARGEST_ARCHIVE", 0)  # a shard for each cell
    cells = files_of(loose)
    pack_all(loose)
    index = loose / PACKED / "000003.index"
    flip(index, 100)
    found = read_results(loose)
    assert (len(found.rows), [item.name for item in found.damaged]) == (7, [f"{PACKED}/{index.name}"])
    assert "SHA-256" in found.damaged[0].reason
    assert [run.name for run in check_folder(loose).damaged] == [f"{PACKED}/{index.name}"]
    with pytest.raises(UserError) as refused:
        sweep(*WALK)
    way = str(refused.value.hint).partition(": ")[2].partition(";")[0]
    subprocess.run(way.split(), check=True)
    index.unlink()
    index.with_name("000003.tar.gz").unlink()
    assert sweep(*WALK).before == 8
    assert read_back(loose, cells) == cells


def test_a_lost_archive_costs_its_cells(loose: Path, sweep: Sweep, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing, "LARGEST_ARCHIVE", 0)
    pack_all(loose)
    (loose / PACKED / "000002.tar.gz").unlink()
    again = sweep(*WALK)
    assert (again.before, len(again.finished), len(again.damaged)) == (7, 1, 1)


def test_failed_cells_keep_their_folders_and_are_run_again(sweep: Sweep, tmp_path: Path, small: None) -> None:
    words = ("agents=walker", "n=1", "env.length=2,3", "seed=0,1", "agents.fails_at=3")
    first = sweep(*words)
    failed = {done.name for done in first.failed}
    folder = tmp_path / "s"
    assert failed
    assert files_of(folder).keys() == failed
    assert len(sweep(*words).finished) == 0
    again = sweep(*words, retry_failed=True)
    assert {done.name for done in again.finished} == failed
    assert {path.name for path in (folder / RETRIED).iterdir()} == failed
    assert len(read_results(folder).rows) == 4


LINE = ("agents=counter", "n=1", "env.length=2", "episode=range(0,4)", "seed=0,1")


def test_a_line_goes_on_from_packed_episodes(sweep: Sweep, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "s"
    sweep(*LINE)
    cells, table = files_of(folder), as_csv(read_results(folder))
    shutil.rmtree(folder)
    monkeypatch.setattr(packing, "FROM", 0)
    monkeypatch.setattr(packing, "CELLS", 1)
    sweep(*LINE)
    assert as_csv(read_results(folder)) == table
    assert not files_of(folder)
    first = next(name for name in cells if json.loads(cells[name]["meta.json"])["configuration"]["episode"] == 0)
    number = packed_in(folder).places[first][0].archive
    flip(folder / number, 100)
    again = sweep(*LINE)  # the whole line, since it began with a memory that nobody has any more
    assert len(again.finished) == 1 or len(again.finished) == 4
    assert as_csv(read_results(folder)) == table
    assert sweep(*LINE).before == 8


def test_the_verbs_take_a_packed_run(quorum: Quorum, sweep: Sweep, tmp_path: Path) -> None:
    from quorum.experiments.sweep.command import run_sweep_command
    from quorum.experiments.sweep.run import SweepRequest

    words = ("agents=naive", "topology=chain", "n=2", "max_steps=6", "seed=0,1")
    run_sweep_command(SweepRequest(words, out=tmp_path, name="s"), quiet=True)
    folder = tmp_path / "s"
    pack_all(folder)
    run = f"s/{read_results(folder).rows[0].name}"
    for verb in (
        ("view", run, "--export", "page.html"),
        ("replay", run, "--out", "film.gif"),
        ("results", run, "--per", "agent"),
        ("results", run, "--recompute"),
        ("check", run),
        ("check", "s"),
        ("compare", "s"),
        ("report", "s"),
        ("branch", run, "--at", "0"),
        ("run", *words[:-1], "seed=0", "llm=replay", f"llm.run={run}"),
        ("results", run, "--recompute", "--write"),
    ):
        done = quorum(*verb)
        assert done.returncode == 0, (verb, done.stderr)
    assert (tmp_path / run).is_dir()  # what is written to has its folder again


@pytest.fixture
def outside(tmp_path: Path) -> Iterator[Path]:
    """Give a file that no shard may touch."""
    file = tmp_path / "mine"
    file.write_text("mine")
    yield file
    assert file.read_text() == "mine"


@pytest.mark.parametrize("name", ["../mine", "/etc", "a/b", "..", ".", "", "a\0b"])
def test_a_name_that_leads_elsewhere_makes_a_shard_damaged(tmp_path: Path, outside: Path, name: str) -> None:
    folder = tmp_path / "s"
    folder.mkdir()
    write_shard(folder, {name: as_member("x", {"meta.json": b"{}"})}, b"\x90", b"\x90")
    assert not packed_in(folder).places
    assert [item.name for item in read_results(folder).damaged] == [f"{PACKED}/000001.index"]


def entry(name: str, kind: bytes = tarfile.REGTYPE, link: str = "", data: bytes = b"evil") -> bytes:
    """Give a member of a shard with one entry."""
    text = io.BytesIO()
    with tarfile.open(fileobj=text, mode="w") as archive:
        info = tarfile.TarInfo(name)
        info.type, info.linkname = kind, link
        info.size = len(data) if kind == tarfile.REGTYPE else 0
        archive.addfile(info, io.BytesIO(data))
        end = archive.offset
    return gzip.compress(text.getvalue()[:end], mtime=0)


@pytest.mark.parametrize(
    "member",
    [
        entry("cell/../../mine"),
        entry("/cell/meta.json"),
        entry("../mine"),
        entry("other/meta.json"),
        entry("cell/a/b/c"),
        entry("cell/meta.json", tarfile.SYMTYPE, "../mine"),
        entry("cell/meta.json", tarfile.LNKTYPE, "../mine"),
        entry("cell/meta.json", tarfile.FIFOTYPE),
        entry("cell/meta.json", tarfile.CHRTYPE),
        entry("cell", tarfile.DIRTYPE),
    ],
)
def test_what_is_no_file_of_the_cell_is_not_unpacked(tmp_path: Path, outside: Path, member: bytes) -> None:
    folder = tmp_path / "s"
    folder.mkdir()
    write_shard(folder, {"cell": member}, b"\x90", b"\x90")
    assert RunFiles(folder / "cell").read("meta.json", 1000) is None
    unpack(folder / "cell")
    assert not list((folder / "cell").rglob("*"))
    assert sorted(os.listdir(tmp_path)) == ["mine", "s"]


def block(name: bytes, kind: bytes, size: bytes = b"", data: bytes = b"") -> bytes:
    """Give a header of tar with what follows it, as nobody's program would write it."""
    header = bytearray(name.ljust(100, b"\0") + b"0000600\0" + 16 * b"0" + size.rjust(11, b"0") + b"\0" + 12 * b"0")
    header += b" " * 8 + kind
    header = header.ljust(512, b"\0")
    header[148:156] = b"%06o\0 " % sum(header)
    return bytes(header) + data.ljust(-(-len(data) // 512) * 512, b"\0")


HOSTILE_ARCHIVES = {
    "nested pax headers": block(b"x", b"x", b"27", b"23 path=cell/meta.json\n") * 20_000,
    "nested long names of GNU": block(b"././@LongLink", b"L", b"17", b"cell/meta.json\0") * 20_000,
    "a negative size": block(b"cell/meta.json", b"0", b"").replace(b"0" * 11 + b"\0", b"\xff" * 10 + b"\xfe\x00", 1),
    "a size beyond the end": block(b"cell/meta.json", b"0", b"77777777777"),
    "a pax size of 5,000 digits": block(b"x", b"x", b"11622", b"5010 size=" + b"9" * 4_999 + b"\n"),
    "a pax length of 5,000 digits": block(b"x", b"x", b"11621", b"9" * 5_000 + b" path=cell/a\n"),
    "sparse": block(b"cell/meta.json", b"S", b"1000", bytes(512)),
    "a pax name that is no text": block(b"x", b"x", b"17", b"15 path=cell/\xff\n"),
    "a member of nulls": bytes(4 << 20),
}


@pytest.mark.parametrize("kind", HOSTILE_ARCHIVES)
def test_an_archive_that_would_do_harm_ends_at_once(kind: str, tmp_path: Path) -> None:
    write_shard(tmp_path, {"cell": gzip.compress(HOSTILE_ARCHIVES[kind], 1, mtime=0)}, b"\x90", b"\x90")
    shard, place = packed_in(tmp_path).places["cell"]
    begin = time.process_time()
    with suppress(DamagedShard):
        assert shard.files(place) == {}
    assert time.process_time() - begin < 60  # half a second, or far longer than a test lasts


def test_verbs_report_nested_headers_in_a_shard_in_one_message(tmp_path: Path, quorum: Quorum) -> None:
    member = gzip.compress(HOSTILE_ARCHIVES["nested pax headers"], 1, mtime=0)
    (tmp_path / "s").mkdir()
    write_shard(tmp_path / "s", {"cell": member}, b"\x90", b"\x90")
    for verb in (
        ("replay", "s/cell"),
        ("results", "s", "--recompute"),
        ("check", "s"),
        ("view", "s/cell", "--export", "x.html"),
    ):
        ended = quorum(*verb)
        assert "Traceback" not in ended.stderr, verb
        assert ended.returncode in (0, 1, 2), (verb, ended)


def test_shards_are_written_as_they_fill_up(loose: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither depth nor memory grows with the number of shards."""
    done = [finished_cell(loose / row.name) for row in read_results(loose).rows]
    held: list[int] = []

    def note(folder: Path, members: Mapping[str, bytes], *more: bytes) -> None:
        held.append(len(members))
        write_shard(folder, members, *more)

    monkeypatch.setattr(packing, "LARGEST_ARCHIVE", 1)
    monkeypatch.setattr(packing, "write_shard", note)
    monkeypatch.setattr(packing, "pack", None)
    pack(loose, done)
    assert held == [1] * len(done)
    assert len(packed_in(loose).shards) == len(done)


def test_a_shard_that_is_a_link_is_not_followed(loose: Path, tmp_path: Path) -> None:
    pack_all(loose)
    (loose / PACKED).rename(tmp_path / "away")
    (loose / PACKED).symlink_to(tmp_path / "away")
    assert not packed_in(loose).places
    (loose / PACKED).unlink()
    (loose / PACKED).mkdir()
    for file in (tmp_path / "away").iterdir():
        (loose / PACKED / file.name).symlink_to(file)
    assert "link" in read_results(loose).damaged[0].reason


def test_a_cell_that_unpacks_to_very_much_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_shard(tmp_path, {"cell": as_member("cell", {"meta.json": bytes(1 << 20)})}, b"\x90", b"\x90")
    monkeypatch.setattr(packed, "LARGEST_CELL", 1 << 19)
    shard, place = packed_in(tmp_path).places["cell"]
    with pytest.raises(DamagedShard, match="too large"):
        shard.files(place)


@pytest.mark.parametrize("rows", [b"\x90", b"\xc0", b"\x80", b"\x91\x81\xa6number\x08"])
def test_rows_that_cannot_be_read_are_made_of_the_cells(loose: Path, sweep: Sweep, rows: bytes) -> None:
    table = as_csv(read_results(loose))
    cells = files_of(loose)
    members = {name: as_member(name, files) for name, files in cells.items()}
    for name in cells:
        shutil.rmtree(loose / name)
    write_shard(loose, members, rows, rows)
    assert as_csv(read_results(loose)) == table
    assert sweep(*WALK).before == 8


def test_check_finds_a_row_that_is_not_that_of_the_cell(loose: Path) -> None:
    cells = files_of(loose)
    rows = [replace(row, metrics={**row.metrics, "outcome.steps": 99.0}) for row in read_results(loose).rows]
    done = [finished_cell(loose / row.name) for row in rows]
    for name in cells:
        shutil.rmtree(loose / name)
    members = {name: as_member(name, files) for name, files in cells.items()}
    write_shard(loose, members, pack_rows(rows), pack_finished(done))
    assert [run.problems for run in check_folder(loose).damaged] == [
        ["results read another row of it than its files give"]
    ] * len(cells)


def test_an_episode_of_a_packed_cell_can_be_opened(loose: Path) -> None:
    name = read_results(loose).rows[0].name
    trace = open_episode(loose / name).trace
    pack_all(loose)
    assert open_episode(loose / name).trace.events == trace.events
    with pytest.raises(UserError, match="there is no such folder"):
        open_episode(loose / "nobody")
