"""`quorum check STUDY` verifies every byte of a study and plays its runs again from their recorded replies."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import tracemalloc
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import orjson
import pytest

from quorum.agents.llm.recording import Folding, unfolded
from quorum.configuration.plugins import load_plugins
from quorum.installation.provenance import CodeVersion
from quorum.study import rerun as rerun_module
from quorum.study.bundle import BUNDLE, write_bundle
from quorum.study.check import check_study
from quorum.study.rerun import rerun
from quorum.study.sheet import SHEET, STUDY, write_sheet
from quorum_base.digests import digest
from quorum_base.user_errors import UserError
from tests.conftest import FORKS, PATIENCE, PLUGINS, Quorum
from tests.hostile.damage import DAMAGES, SECRET, sorts_of
from tests.recorded import copied_run, recorded_run
from tests.studies import ARMS, TEAM, forged, play_study, unpacked

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
    for place in (study, unpacked(study / BUNDLE), study / BUNDLE):
        ended = quorum("check", str(place))
        assert (ended.returncode, ended.stdout.splitlines()) == (
            0,
            [f"{place}: 6 runs: 6 whole", f"{place}: 6 of 6 runs played again with equal traces"],
        ), ended.stderr
    plain = check_study(study).to_json()
    assert json.loads(json.dumps(plain))["problems"] == []
    assert len(plain["reruns"]) == 6


def test_equal_folders_give_equal_bundles(study: Path, tmp_path: Path) -> None:
    shutil.copytree(study, tmp_path / "s")
    os.utime(tmp_path / "s" / STUDY, (1, 1))
    assert write_bundle(tmp_path / "s").read_bytes() == (study / BUNDLE).read_bytes()
    assert {STUDY, SHEET, "sweep.json"} < {*names(study / BUNDLE)}


def test_a_changed_byte_of_a_run_or_of_the_sheet_is_found_and_the_file_named(study: Path) -> None:
    bundle = study / BUNDLE
    run = that_talks(bundle)
    own = [name for name in names(bundle) if name == SHEET or name.startswith(run)]
    assert len(own) == 6
    for name in own:
        data = bytearray(content(bundle, name))
        data[len(data) // 2] ^= 1
        found = check_study(unpacked(bundle, **{name: bytes(data)}))
        assert found.damaged, name
        assert any(name.rpartition("/")[2] in line for line in found.lines()), (name, [*found.lines()])


def with_reply(bundle: Path, run: str, change: Callable[[dict], None]) -> Path:
    """Change the last reply of a run that has a plan, and every digest with it."""
    records = list(unfolded(content(bundle, f"{run}/calls.jsonl").splitlines(keepends=True)))
    change(next(record for record in reversed(records) if "plan" in record["turn"])["reply"])
    folding = Folding()
    return forged(bundle, **{f"{run}/calls.jsonl": b"".join(map(folding.line, records))})


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
    assert found.problems == (f"{SHEET}: the runs give other values for boards, cost",)


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
    assert rerun(run).reason.endswith("its inputs are different here: prompts/cube/rules.jinja")


def test_a_difference_under_other_code_is_no_damage(
    study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rerun_module, "provenance", lambda: {"versions": {"quorum-harness": "9.9.9"}, "git": None})
    bundle, run = study / BUNDLE, that_talks(study / BUNDLE)
    assert [one for one in check_study(study).reruns if one.reason] == []
    found = check_study(with_reply(bundle, run, for_two))
    (other,) = [one for one in found.reruns if one.reason]
    assert (other.name, found.damaged) == (run, False)
    assert f"and this is {CodeVersion('9.9.9')}" in other.reason


def test_no_model_is_asked_where_replies_are_missing(tmp_path: Path) -> None:
    run = copied_run(tmp_path, *TEAM, "topology=debate")
    (run / "calls.jsonl").unlink()
    assert "no call was recorded" in rerun(run).difference


def test_attempts_that_were_put_aside_are_part_of_the_cost_and_of_the_bundle(tmp_path: Path) -> None:
    folder = play_study(tmp_path / "s", {"treatment": ARMS["treatment"]})
    (cell,) = (path for path in folder.iterdir() if path.is_dir())
    shutil.copytree(cell, folder / ".retried" / cell.name / "1")
    cost = write_sheet(folder)["cost"]
    assert (cost["repeated_cells"], cost["repeated_answers"]) == (1, cost["answers"])
    assert not check_study(unpacked(write_bundle(folder))).damaged
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
    (found,) = check_study(unpacked(bundle)).reruns
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
    assert not check_study(unpacked(write_bundle(tmp_path / "s"))).damaged


def raises(error: BaseException) -> Callable[..., None]:
    def fail(*_: object) -> None:
        raise error

    return fail


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
        patch.setattr(zipfile.ZipFile, "_write_end_record", raises(OSError(28, "No space left on device")))
        with pytest.raises(
            UserError, match=r"study\.zip: cannot be written: No space left on device\nFree some disk space"
        ):
            write_bundle(tmp_path / "s")
    assert (tmp_path / "s" / BUNDLE).read_bytes() == before
    assert not list((tmp_path / "s").glob(".*zip*"))
