"""Archives of runs: what is read where it lies, and what is refused with the name of the member."""

from __future__ import annotations

import hashlib
import json
import stat
import struct
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from quorum.runs import archives, read_results
from quorum.runs.archives import unpacked
from quorum_base.user_errors import UserError
from tests.conftest import Quorum
from tests.folders import outcome, write_run

METRICS = json.dumps(outcome()).encode()


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of temporary folders, so that a test sees what is left there."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def sweep(tmp_path: Path) -> Path:
    """A folder of two runs with digests."""
    folder = tmp_path / "talk"
    files = {"metrics.json": hashlib.sha256(METRICS).hexdigest()}
    for seed in (0, 1):
        write_run(folder, outcome(), name=f"run-{seed}", seed=seed, meta={"files": files})
    return folder


def pack(target: Path, files: Mapping[str, bytes | zipfile.ZipInfo]) -> Path:
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in files.items():
            if isinstance(data, bytes):
                packed.writestr(name, data)
            else:
                packed.writestr(data, b"content")
    return target


def packed(folder: Path, target: Path, top: str = "", **changes: bytes) -> Path:
    """Pack a folder, with other contents of files whose names end so."""
    files: dict[str, bytes] = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        changed = [data for end, data in changes.items() if path.as_posix().endswith(end.replace("__", "/"))]
        files[f"{top}{path.relative_to(folder).as_posix()}"] = changed[0] if changed else path.read_bytes()
    return pack(target, files)


def refusal(archive: Path) -> str:
    with pytest.raises(UserError) as refused, unpacked([archive]):
        pytest.fail("it was unpacked")
    return str(refused.value)


@pytest.mark.parametrize("top", ["", "talk/"])
def test_a_sweep_is_read_where_it_lies_and_nothing_is_left(
    sweep: Path, tmp_path: Path, temporary: Path, top: str
) -> None:
    archive = packed(sweep, tmp_path / "talk.zip", top)
    with unpacked([sweep, archive]) as (plain, unzipped):
        assert plain == sweep
        assert unzipped.name == "talk"
        assert [row.record() for row in read_results(unzipped).rows] == [
            row.record() for row in read_results(sweep).rows
        ]
        (private,) = temporary.iterdir()
        assert stat.S_IMODE(private.stat().st_mode) == 0o700
    with unpacked([archive / "run-1"]) as (run,):
        assert json.loads((run / "meta.json").read_text())["seed"] == 1
    assert list(temporary.iterdir()) == []


def link() -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo("run/link")
    entry.create_system, entry.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
    return entry


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"../out": b""}, "../out: not unpacked: its name leads out of the archive"),
        ({"/tmp/out": b""}, "/tmp/out: not unpacked: its name leads out"),
        ({"run/../../out": b""}, "run/../../out: not unpacked: its name leads out"),
        ({"run//out": b""}, "run//out: not unpacked: its name leads out"),
        ({"run\\out": b""}, "run\\out: not unpacked: its name leads out"),
        ({"ok": b"", "run/link": link()}, "run/link: not unpacked: it is a link or a special file"),
        ({"run": b"", "run/out": b""}, "run/out"),
        ({"zeros": bytes(30 << 20)}, "zeros: not unpacked: with it, the archive unpacks to more than"),
    ],
)
def test_a_hostile_member_is_refused_by_name(
    files: Mapping[str, bytes], reason: str, tmp_path: Path, temporary: Path
) -> None:
    archive = pack(tmp_path / "bad.zip", files)
    said = refusal(archive)
    assert said.startswith(f"{archive}: ")
    assert reason in said
    assert list(temporary.iterdir()) == []
    assert not (tmp_path / "out").exists()


def test_too_many_members_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MOST_MEMBERS", 2)
    assert "c: not unpacked: with it, the archive unpacks to more than 2 files" in refusal(
        pack(tmp_path / "many.zip", {"a": b"", "b": b"", "c": b""})
    )


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_name_that_occurs_twice_is_refused(tmp_path: Path) -> None:
    archive = pack(tmp_path / "twice.zip", {"run/meta.json": b"{}"})
    with zipfile.ZipFile(archive, "a") as more:
        more.writestr("run/meta.json", b"other")
    assert "run/meta.json: not unpacked: damaged: the archive has it twice" in refusal(archive)


def test_a_member_that_is_larger_than_it_says_or_was_changed_is_refused(tmp_path: Path) -> None:
    archive = pack(tmp_path / "liar.zip", {"run/trace": bytes(5000)})
    data = archive.read_bytes()
    small = data.replace(struct.pack("<L", 5000), struct.pack("<L", 50))
    assert small != data
    archive.write_bytes(small)
    assert "run/trace: not unpacked: damaged: " in refusal(archive)
    archive.write_bytes(data[: len(data) // 2])
    assert "it is not a whole zip archive" in refusal(archive)
    with pytest.raises(UserError) as refused, unpacked([archive]):
        pytest.fail("it was unpacked")
    assert refused.value.hint.startswith("Get the archive again")
    pack(archive, {"run/trace": b"abcdef"})
    with zipfile.ZipFile(archive) as whole:
        start = whole.getinfo("run/trace").header_offset + 30 + len("run/trace")
    changed = bytearray(archive.read_bytes())
    changed[start + 2] ^= 0xFF
    archive.write_bytes(changed)
    assert "run/trace: not unpacked: damaged: " in refusal(archive)


def test_a_file_that_its_run_did_not_write_is_refused_but_for_a_check(
    sweep: Path, tmp_path: Path, temporary: Path
) -> None:
    other = json.dumps(outcome(steps=1)).encode()
    archive = packed(sweep, tmp_path / "forged.zip", "talk/", **{"run-1__metrics.json": other})
    assert refusal(archive).startswith(f"{archive}/run-1/metrics.json: damaged: it is not what the run wrote")
    with unpacked([archive], verify=False) as (folder,):
        assert (folder / "run-1" / "metrics.json").read_bytes() == other
    assert list(temporary.iterdir()) == []


def test_verbs_read_an_archive_and_write_nothing_next_to_it(sweep: Path, tmp_path: Path, quorum: Quorum) -> None:
    packed(sweep, tmp_path / "talk.zip")
    assert quorum("results", "talk.zip", "--csv").stdout == quorum("results", "talk", "--csv").stdout
    shown = quorum("results", "talk.zip")
    assert "run-1" in shown.stdout
    assert "table:" not in shown.stdout
    compared = quorum("compare", "talk.zip", "--metric", "steps")
    assert (compared.returncode, "files in" in compared.stdout) == (0, False)
    refused = quorum("results", "talk.zip", "--write")
    assert (refused.returncode, "Unpack it first" in refused.stderr) == (2, True)
    missing = quorum("results", "talk.zip/nowhere")
    assert missing.stderr.startswith("error: talk.zip/nowhere: there is no such folder")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["talk", "talk.zip"]
