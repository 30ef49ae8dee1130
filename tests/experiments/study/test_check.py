"""`quorum check STUDY` verifies every byte of a study and plays its runs again from their recorded replies."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import tempfile
import tracemalloc
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import orjson
import pytest

from maeil.digests import digest
from maeil.user_errors import UserError
from quorum.agents.llm.recording import Folding, unfolded
from quorum.experiments.common.provenance import CodeVersion
from quorum.experiments.configuration.plugins import load_plugins
from quorum.experiments.study import rerun as rerun_module
from quorum.experiments.study.bundle import BUNDLE, MANIFEST, write_bundle
from quorum.experiments.study.check import check_study
from quorum.experiments.study.rerun import rerun
from quorum.experiments.study.sheet import SHEET, STUDY, write_sheet
from tests.conftest import FORKS, PATIENCE, PLUGINS, Quorum
from tests.experiments.hostile.damage import DAMAGES, SECRET, sorts_of
from tests.experiments.studies import ARMS, TEAM, forged, play_study, repacked
from tests.recorded import copied_run, recorded_run

COORDINATED = ("topology=centralized", "topology.leader=coordinator", "topology.rounds=3")


def names(bundle: Path) -> list[str]:
    with zipfile.ZipFile(bundle) as packed:
        return packed.namelist()


def content(bundle: Path, name: str) -> bytes:
    with zipfile.ZipFile(bundle) as packed:
        return packed.read(name)


def that_talks(bundle: Path) -> str:
    return next(name.partition("/")[0] for name in names(bundle) if "debate" in name)


def test_a_whole_study_is_verified_and_played_again(study: Path, quorum: Quorum) -> None:
    for place in (study, study / BUNDLE):
        ended = quorum("check", str(place))
        assert (ended.returncode, ended.stdout.splitlines()) == (
            0,
            [f"{place}: 6 runs: 6 whole", f"{place}: 6 of 6 runs played again, and their traces are equal"],
        ), ended.stderr
    plain = check_study(study / BUNDLE).plain()
    assert json.loads(json.dumps(plain))["problems"] == []
    assert len(plain["reruns"]) == 6


def test_equal_folders_give_equal_bundles(study: Path, tmp_path: Path) -> None:
    shutil.copytree(study, tmp_path / "s")
    os.utime(tmp_path / "s" / STUDY, (1, 1))
    assert write_bundle(tmp_path / "s").read_bytes() == (study / BUNDLE).read_bytes()
    listed = json.loads(content(study / BUNDLE, MANIFEST))["files"]
    assert [*listed, MANIFEST] == names(study / BUNDLE)
    assert {STUDY, SHEET, "sweep.json"} < listed.keys()


def test_a_changed_byte_of_any_file_is_found_and_the_file_named(study: Path) -> None:
    bundle = study / BUNDLE
    run = that_talks(bundle)
    own = [name for name in names(bundle) if "/" not in name or name.startswith(run)]
    assert len(own) == 9
    for name in own:
        data = bytearray(content(bundle, name))
        place = len(data) // 2
        data[place] ^= 1
        found = check_study(repacked(bundle, **{name: bytes(data)}))
        assert found.damaged, name
        assert any(name in problem for problem in found.problems), (name, found.problems)


def test_a_file_more_or_less_is_found(study: Path) -> None:
    bundle, run = study / BUNDLE, that_talks(study / BUNDLE)
    found = check_study(repacked(bundle, **{f"{run}/more": b"x"}))
    assert f"{run}/more: {MANIFEST} does not name it" in found.problems
    listed = json.loads(content(bundle, MANIFEST))
    listed["files"]["gone"] = {"sha256": "0" * 64, "size": 1}
    assert "gone: it is missing" in check_study(repacked(bundle, **{MANIFEST: orjson.dumps(listed)})).problems


def with_reply(bundle: Path, run: str, change: Callable[[dict], None]) -> Path:
    """Change the last reply of a run that has a plan, and every digest with it."""
    records = list(unfolded(content(bundle, f"{run}/calls.jsonl").splitlines(keepends=True)))
    change(next(record for record in reversed(records) if "plan" in record["turn"])["reply"])
    folding = Folding()
    return forged(bundle, **{f"{run}/calls.jsonl": b"".join(map(folding.line, records))})


def test_a_manifest_that_names_other_code_is_found(study: Path) -> None:
    data = content(study / BUNDLE, MANIFEST)
    found = check_study(repacked(study / BUNDLE, **{MANIFEST: data.replace(b'"schema": 1', b'"schema": 2')}))
    assert found.problems == (f"{MANIFEST}: it is not what these files give",)


def for_two(reply: dict) -> None:
    """Let a plan to push a block alone wait for a second agent."""
    assert '"count":1' in reply["text"]
    reply["text"] = reply["text"].replace('"count":1', '"count":2')


def test_a_reply_that_was_changed_with_its_digests_is_found_by_playing_again(study: Path) -> None:
    bundle, run = study / BUNDLE, that_talks(study / BUNDLE)
    found = check_study(with_reply(bundle, run, for_two))
    assert found.runs.damaged == ()
    assert [(one.name, one.difference[:6]) for one in found.reruns if one.difference] == [(run, "event ")]
    assert found.damaged
    assert any(line.startswith(f"differs: {run}: event ") for line in found.lines())


def test_replies_that_make_no_sense_are_a_difference(study: Path) -> None:
    bundle, run = study / BUNDLE, that_talks(study / BUNDLE)
    found = check_study(forged(bundle, **{f"{run}/calls.jsonl": b'{"key": 1}\n'}))
    assert [one.name for one in found.reruns if one.difference] == [run]


def test_a_sheet_that_the_runs_do_not_give_is_found_with_its_fields(study: Path) -> None:
    stored = json.loads(content(study / BUNDLE, SHEET))
    stored["boards"], stored["cost"]["answers"], stored["written_by"] = [0], 1, "0.0.1"
    found = check_study(forged(study / BUNDLE, **{SHEET: orjson.dumps(stored)}))
    assert found.problems == (f"{SHEET}: boards, cost: the runs give something else",)


@pytest.mark.parametrize(
    "words",
    [
        ("agents=drwell", "topology=negotiation", "n=2", "max_steps=4"),
        (*TEAM, "topology=debate", "budget.calls=3", "limits.episode_seconds=600"),
        (*TEAM, "topology=debate", "llm.malformed=0.5", "llm.refusal=0.2"),
        ("env=crafter", "env.profile=coop", "agents=naive", "n=2", "max_steps=3", "topology=debate"),
        ("env=transport", "agents=llamac", "n=2", "max_steps=3", *COORDINATED),
    ],
)
def test_every_kind_of_run_comes_out_again(words: tuple[str, ...]) -> None:
    found = rerun(recorded_run(*words))
    assert (found.difference, found.reason) == ("", "")


def test_runs_that_cannot_be_played_again_are_named_with_the_reason(tmp_path: Path) -> None:
    run = copied_run(tmp_path, *TEAM, "topology=debate")
    meta = json.loads((run / "meta.json").read_text())
    (run / "meta.json").write_text(
        json.dumps({**meta, "outcome": "error", "error": {"class": "LimitReached", "message": "x"}})
    )
    assert rerun(run).reason == "it ended with an error: LimitReached"
    (run / "meta.json").write_text(json.dumps({**meta, "inputs": {**meta["inputs"], "prompts/cube/rules.jinja": "0"}}))
    assert rerun(run).reason.endswith("not the same here: prompts/cube/rules.jinja")


def test_a_difference_under_other_code_is_no_damage(
    study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rerun_module, "provenance", lambda: {"versions": {"quorum-harness": "9.9.9"}, "git": None})
    bundle, run = study / BUNDLE, that_talks(study / BUNDLE)
    assert [one for one in check_study(bundle).reruns if one.reason] == []
    found = check_study(with_reply(bundle, run, for_two))
    (other,) = [one for one in found.reruns if one.reason]
    assert (other.name, found.damaged) == (run, False)
    assert f"and this is {CodeVersion('9.9.9')}" in other.reason


def test_no_model_is_asked_where_replies_are_missing(tmp_path: Path) -> None:
    run = copied_run(tmp_path, *TEAM, "topology=debate")
    (run / "calls.jsonl").unlink()
    assert "nothing was recorded" in rerun(run).difference


def test_attempts_that_were_put_aside_are_part_of_the_cost_and_of_the_bundle(tmp_path: Path) -> None:
    folder = play_study(tmp_path / "s", {"treatment": ARMS["treatment"]})
    (cell,) = (path for path in folder.iterdir() if path.is_dir())
    shutil.copytree(cell, folder / ".retried" / cell.name / "1")
    cost = write_sheet(folder)["cost"]
    assert (cost["repeated_cells"], cost["repeated_answers"]) == (1, cost["answers"])
    assert not check_study(write_bundle(folder)).damaged
    assert f".retried/{cell.name}/1/calls.jsonl" in names(folder / BUNDLE)


def test_a_file_that_a_configuration_names_is_found_in_the_bundle_by_its_digest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(PLUGINS))
    load_plugins(["reciter"])
    donors = tmp_path / "s" / "donors" / "board-7.json"
    donors.parent.mkdir(parents=True)
    donors.write_text("heard on board 7")
    words = ("n=2", "max_steps=2", "extension=reciter", f"extension.reciter.donors={donors}")
    folder = play_study(tmp_path / "s", {"shuffled": words}, config_dir=PLUGINS / "reciter_configs")
    sheet = json.loads((folder / SHEET).read_bytes())
    assert sheet["files"] == {"extension.reciter.donors": [digest(b"heard on board 7")]}
    assert str(tmp_path) not in (folder / SHEET).read_text()
    (tmp_path / "s").rename(tmp_path / "elsewhere")
    bundle = tmp_path / "elsewhere" / BUNDLE
    (found,) = check_study(bundle).reruns
    assert (found.difference, found.reason) == ("", "")
    (other,) = check_study(forged(bundle, **{"donors/board-7.json": b"heard nowhere"})).reruns
    assert "there is no such file" in other.reason


@pytest.mark.conformance
@pytest.mark.parametrize("damage", sorted({*DAMAGES} - {"database", "endless_zeros"}))  # the fuzzer has them
def test_no_damage_of_a_study_brings_the_check_down(damage: str, tmp_path: Path) -> None:
    good = play_study(tmp_path / "good", {"treatment": ARMS["treatment"]})
    (tmp_path / "canaries").mkdir()
    (tmp_path / "canaries" / "secret.txt").write_text(SECRET)
    targets = sorted(path.relative_to(good) for path in good.rglob("*") if path.suffix != ".zip")
    for number, target in enumerate(targets):
        work = Path(shutil.copytree(good, tmp_path / str(number)))
        if DAMAGES[damage].sort in sorts_of(work / target):
            with suppress(UserError, OSError):
                DAMAGES[damage].do(work / target, random.Random(number), tmp_path / "canaries")
                assert SECRET not in "\n".join(check_study(work).lines())
                assert SECRET.encode() not in write_bundle(work).read_bytes()


def test_links_are_not_followed_into_a_bundle(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("THE SECRET")
    folder = play_study(tmp_path / "s", {"idle": ARMS["idle"]})
    (run,) = (path for path in folder.iterdir() if path.is_dir())
    (folder / "donors").mkdir()
    (folder / "donors" / "mine.json").write_text("[]")
    assert "donors/mine.json" in names(write_bundle(folder))
    (folder / "donors" / "link.json").symlink_to(tmp_path / "secret")
    (run / "config.yaml").unlink()
    (run / "config.yaml").symlink_to(tmp_path / "secret")
    (folder / "linked").symlink_to(run)
    bundle = write_bundle(folder)
    assert b"THE SECRET" not in b"".join(content(bundle, name) for name in names(bundle))
    assert not any(name.startswith(("linked", "donors/link", f"{run.name}/config")) for name in names(folder / BUNDLE))


def write_and_be_killed(folder: Path) -> None:
    """Write a bundle, and be killed when all of it is written but not yet under its name."""
    os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)  # type: ignore[assignment]
    write_bundle(folder)


def test_a_killed_command_leaves_no_half_bundle(study: Path, tmp_path: Path) -> None:
    shutil.copytree(study, tmp_path / "s")
    (tmp_path / "s" / BUNDLE).unlink()
    process = FORKS.Process(target=write_and_be_killed, args=(tmp_path / "s",))
    process.start()
    process.join(PATIENCE)
    assert process.exitcode == -signal.SIGKILL
    assert not (tmp_path / "s" / BUNDLE).exists()
    assert not check_study(write_bundle(tmp_path / "s")).damaged


def packed(target: Path, *entries: tuple[str, bytes], **changes: int) -> Path:
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as new:
        for name, data in entries:
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED
            for key, value in changes.items():
                setattr(info, key, value)
            new.writestr(info, data)
    return target


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(
    ("entries", "changes", "said"),
    [
        ([("../out", b"x")], {}, "no name of a file"),
        ([("/tmp/out", b"x")], {}, "no name of a file"),
        ([("a/../../out", b"x")], {}, "no name of a file"),
        ([("a\\..\\out", b"x")], {}, "no name of a file"),
        ([("a//b", b"x")], {}, "no name of a file"),
        ([("a\nb", b"x")], {}, "no name of a file"),
        ([("folder/", b"")], {}, "no name of a file"),
        ([("link", b"/etc/passwd")], {"external_attr": 0o120777 << 16}, "is a link"),
        ([("pipe", b"")], {"external_attr": 0o010600 << 16}, "is a link or no file"),
        ([("a", b"x"), ("a", b"y")], {}, "the same name"),
        ([("a", b"x"), ("A", b"y")], {}, "the same name"),
        ([("a", b"x"), ("a/b", b"y")], {}, "the same name"),
        ([("a", b"x"), ("A/b", b"y")], {}, "the same name"),
        ([("a/b", b"x"), ("A/c", b"y")], {}, "the same name"),
        ([("\u00e9", b"x"), ("e\u0301", b"y")], {}, "the same name"),
        ([("a.", b"x")], {}, "no name of a file"),
        ([("a /b", b"x")], {}, "no name of a file"),
        ([("a\u202eb", b"x")], {}, "no name of a file"),
        ([("/".join("a" * 9), b"x")], {}, "no name of a file"),
        ([("/".join("a" * 1_200), b"x")], {}, "no name of a file"),
        ([("/".join("a" * 3_000), b"x")], {}, "no name of a file"),
        ([("a" * 256, b"x")], {}, "no name of a file"),
        ([("\u00e9" * 128 + "/b", b"x")], {}, "no name of a file"),
        ([(f"bomb{number}", bytes(40 << 20)) for number in range(2)], {}, "unpacks to 80 MiB"),
    ],
)
def test_a_zip_that_would_do_harm_is_refused_before_anything_is_made(
    entries: list, changes: dict, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(tempfile, "mkdtemp", None)
    (tmp_path / "in").mkdir()
    bundle = packed(tmp_path / "in" / "study.zip", *entries, **changes)
    with pytest.raises(UserError, match=said):
        check_study(bundle)
    assert [path.name for path in tmp_path.rglob("*")] == ["in", "study.zip"]


@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(28, "No space left on device"), SystemExit(143)])
def test_what_was_unpacked_is_removed_however_the_check_ends(
    error: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle = packed(tmp_path / "study.zip", ("run/meta.json", b"{}"), ("run/trace.jsonl", b""))
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))

    def fail(*_: object) -> None:
        assert len(list((tmp_path / "temporary").rglob("*"))) == 3
        raise error

    monkeypatch.setattr(shutil, "copyfileobj", fail)
    wanted = (UserError, "cannot be unpacked: No space left") if isinstance(error, OSError) else (type(error), None)
    with pytest.raises(wanted[0], match=wanted[1]):
        check_study(bundle)
    assert list((tmp_path / "temporary").iterdir()) == []


def test_a_check_without_a_place_for_temporary_files_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle = packed(tmp_path / "study.zip", ("a", b"x"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    with pytest.raises(UserError, match=r"cannot be unpacked: No such file or directory\n.*TMPDIR"):
        check_study(bundle)


def test_a_bundle_is_packed_piece_by_piece_and_whole_or_not_at_all(study: Path, tmp_path: Path) -> None:
    shutil.copytree(study, tmp_path / "s")
    (tmp_path / "s" / "donors").mkdir()
    (tmp_path / "s" / "donors" / "large.json").write_bytes(b"[" + bytes(200 << 20))
    before = (tmp_path / "s" / BUNDLE).read_bytes()
    tracemalloc.start()
    write_bundle(tmp_path / "s")
    assert tracemalloc.get_traced_memory()[1] < 40 << 20
    tracemalloc.stop()
    (tmp_path / "s" / "donors" / "large.json").unlink()
    assert write_bundle(tmp_path / "s").read_bytes() == before
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(zipfile.ZipFile, "writestr", raises(OSError(28, "No space left on device")))
        with pytest.raises(UserError, match=r"study\.zip: cannot be written: No space left on device\nMake room"):
            write_bundle(tmp_path / "s")
    assert (tmp_path / "s" / BUNDLE).read_bytes() == before
    assert not list((tmp_path / "s").glob(".*zip*"))


def raises(error: BaseException) -> Callable[..., None]:
    def fail(*_: object) -> None:
        raise error

    return fail


def test_a_zip_with_a_list_without_bounds_is_refused(tmp_path: Path) -> None:
    bundle = packed(tmp_path / "study.zip", ("a", b"x"))
    data = bytearray(bundle.read_bytes())
    data[-10:-6] = (1 << 30).to_bytes(4, "little")
    bundle.write_bytes(data)
    with pytest.raises(UserError, match="more than 60,000 files"):
        check_study(bundle)


def test_what_is_no_zip_is_refused_by_its_name(tmp_path: Path, quorum: Quorum) -> None:
    (tmp_path / "study.zip").write_text("no zip")
    ended = quorum("check", "./study.zip")
    assert ended.returncode == 2
    assert ended.stderr.startswith("error: study.zip: it is no bundle of a study: it is no zip")


def files(bundle: Path) -> dict[str, bytes]:
    return {name: content(bundle, name) for name in names(bundle)}


@pytest.mark.parametrize("seed", range(3))
def test_no_damage_of_the_zip_itself_brings_the_check_down(seed: int, study: Path, tmp_path: Path) -> None:
    chance, whole = random.Random(seed), (study / BUNDLE).read_bytes()
    for _ in range(4):
        data = bytearray(whole)
        for _ in range(chance.choice((1, 1, 30))):
            data[chance.randrange(len(data))] = chance.randrange(256)
        (tmp_path / "x.zip").write_bytes(data[: chance.choice((len(data), chance.randrange(len(data))))])
        with suppress(UserError):  # which the command says in a line
            # dates and the like of a zip are in nobody's file
            assert check_study(tmp_path / "x.zip").damaged or files(tmp_path / "x.zip") == files(study / BUNDLE)
