"""The disclosure sheet: what it says is what the folder has, and it names no path, no key and nothing that acts."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from quorum.agents.simulated import SimulatedSettings
from quorum.agents.simulated.model import SimulatedModel
from quorum.runs import read_results
from quorum.runs.run_folder import RunFolder
from quorum.study.sheet import PAGE, SHEET, STUDY, Sheet, as_json, as_page, differing_fields, read_study, sheet_of
from tests.folders import HOSTILE, outcome, write_plan, write_run
from tests.serving import served
from tests.studies import ARMS, FACTS, TEAM, play_study

CANARY = "sk-canary-5e8d1c07b3f24a96"


def sheet(folder: Path, **facts: object) -> Sheet:
    return sheet_of(read_results(folder), {**FACTS, **facts})


def test_it_says_who_answered_what_counts_and_what_it_cost(study: Path) -> None:
    found = json.loads((study / SHEET).read_bytes())
    runs = [RunFolder(path) for path in study.iterdir() if path.is_dir()]
    assert found["study"]["metric"] == "outcome.steps"
    assert (found["boards"], found["draws"], found["simulated"]) == ([0, 1], [0], True)
    runs_of = [(arm["arm"], arm["planned"], arm["run"], arm["pooled"], arm["simulated"]) for arm in found["arms"]]
    assert runs_of == [("treatment", 2, 2, 2, True), ("silent", 2, 2, 2, True), ("idle", 2, 2, 2, False)]
    (model,) = found["answering"]
    calls = sum(int(run.metrics()["model.calls"] or 0) for run in runs)
    assert (model["model"], model["simulated"], model["calls"]) == ("simulated", True, calls)
    assert found["cost"]["answers"] == sum(run.metrics()["model.answers"] or 0 for run in runs) > 0
    assert found["cost"]["usd"] == pytest.approx(sum(run.metrics()["model.usd"] or 0 for run in runs))
    assert sum(found["system_messages"].values()) == calls
    assert "prompts/cube/rules.jinja" in found["templates"]
    assert found["asked"][0]["values"]["temperature"] == 2.0
    assert found["packages"]["python"]


def test_equal_folders_give_equal_sheets(study: Path) -> None:
    stored = (study / SHEET).read_bytes()
    assert as_json(sheet_of(read_results(study), read_study(study))) == stored
    assert differing_fields(stored, sheet(study, arms={a: list(w) for a, w in ARMS.items()})) == []
    assert differing_fields(stored, sheet(study)) == ["study"]


def test_runs_that_do_not_count_are_named_with_the_reason_and_no_message(tmp_path: Path) -> None:
    failed = {"class": "InfrastructureFailed", "message": "org-5 of alice at /home/alice/x is over its limit"}
    digests = [
        write_run(tmp_path, outcome(), name="good", seed=0),
        write_run(tmp_path, outcome(), name="bad", seed=1, meta={"outcome": "error", "error": failed}),
    ]
    write_plan(tmp_path, [("good", digests[0], "a"), ("bad", digests[1], "a"), ("gone", "f" * 64, "a")])
    (tmp_path / "spoiled").mkdir()
    (tmp_path / "spoiled" / "meta.json").write_text("{")
    found = sheet(tmp_path)
    assert [(item["run"], item["reason"].partition(":")[0]) for item in found["left_out"]] == [
        ("bad", "error"),
        ("spoiled", "damaged"),
    ]
    assert found["left_out"][0]["reason"] == "error: InfrastructureFailed"
    assert (found["missing"], found["arms"][0]["planned"], found["arms"][0]["pooled"]) == (1, 3, 1)
    assert b"alice" not in as_json(found) + as_page(found)


@pytest.mark.parametrize(
    "text",
    [
        "/home/alice/runs",
        "env.layout=/home/alice/my boards/x.txt",
        "see '/home/alice/x' and ~alice/x",
        r"C:\Users\alice\x",
        "file:///home/alice/x",
        "https://alice:secret@host/v1",
        ["quorum study talk --out /srv/alice"],
        {"deep": [{"er": "~/alice"}]},
    ],
)
def test_what_a_study_states_names_no_path_and_no_user(text: object, tmp_path: Path) -> None:
    write_run(tmp_path, outcome(), name="good")
    found = sheet(tmp_path, note=text)
    assert b"alice" not in as_json(found) + as_page(found)


def test_words_that_are_no_paths_stay(tmp_path: Path) -> None:
    write_run(tmp_path, outcome(), name="good")
    words = ["~3 steps", "1/2 and/or 3 / 4", "prompts/cube/rules.jinja", "https://host.example/v1/x", "p < 0.05/12"]
    assert sheet(tmp_path, note=words)["study"]["note"] == words


def test_the_page_escapes_all_that_others_wrote(tmp_path: Path) -> None:
    meta = {"models": [HOSTILE], "fallbacks": [HOSTILE], "versions": {HOSTILE: HOSTILE, "quorum-harness": HOSTILE}}
    own = write_run(tmp_path, outcome(model__usd=None), name="odd", meta=meta, llm__base_url=f"http://h/{HOSTILE}")
    write_plan(tmp_path, [("odd", own, HOSTILE)], arms={HOSTILE: [HOSTILE]})
    page = as_page(sheet(tmp_path, question=HOSTILE, **{HOSTILE: HOSTILE})).decode()
    assert "<script>alert" not in page
    assert page.count("&lt;script&gt;alert(1)") > 5


def test_an_arm_of_chance_makes_no_simulated_study_of_a_real_one(tmp_path: Path) -> None:
    chance = {"models": ["chance"], "simulated": True}
    runs = {"treatment": {"models": ["m"]}, "chance": chance}
    cells = [
        (arm, write_run(tmp_path, outcome(), name=arm, topology__note=arm, meta=meta), arm)
        for arm, meta in runs.items()
    ]
    write_plan(tmp_path, cells)
    found = json.loads(as_json(sheet(tmp_path)))
    assert found["simulated"] is False
    assert {arm["arm"]: arm["simulated"] for arm in found["arms"]} == {"treatment": False, "chance": True}


def test_simulated_stands_on_the_page_wherever_it_is(study: Path, tmp_path: Path) -> None:
    page = (study / PAGE).read_text()
    assert "no result here says anything about a real one" in page
    shown = re.sub(r'<div class="wide"[^>]*>', "", page)  # a wide table has its name twice
    assert shown.count("(simulated)") == 6  # title, two arms, a model, cost twice
    write_run(tmp_path, outcome(), name="good")
    assert "simulated" not in as_page(sheet(tmp_path)).decode().partition("<body>")[2]


def test_no_file_of_a_study_holds_the_key_of_a_real_service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUORUM_TEST_KEY", CANARY)
    brain = SimulatedModel(SimulatedSettings(**dict.fromkeys(SimulatedSettings.model_fields, 0)))
    with served(brain) as addresses:
        llm = (
            "llm=openai",
            f"llm.base_url={addresses.openai}",
            "llm.model=simulated",
            "llm.api_key_env=QUORUM_TEST_KEY",
        )
        folder = play_study(tmp_path / "s", {"treatment": (*TEAM, "topology=debate", *llm, "llm.cache=false")})
    for file in folder.rglob("*"):
        assert file.is_dir() or CANARY.encode() not in file.read_bytes(), file
    found = json.loads((folder / SHEET).read_bytes())
    assert found["asked"][0]["address"] == addresses.openai
    assert found["asked"][0]["model"] == "simulated"
    paths = (str(tmp_path), os.environ.get("HOME", "/root"))
    assert not any(path in (folder / SHEET).read_text() + (folder / PAGE).read_text() for path in paths)


def test_a_key_in_what_a_study_states_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUORUM_TEST_KEY", CANARY)
    with pytest.raises(Exception, match="QUORUM_TEST_KEY"):
        play_study(tmp_path / "s", {"idle": ARMS["idle"]}, note=f"Bearer {CANARY}")
    assert not (tmp_path / "s" / SHEET).exists()


@pytest.mark.parametrize("text", [None, "", "[]", "{", "\xff"])
def test_a_study_file_that_is_none_is_refused_by_its_name(text: str | None, tmp_path: Path) -> None:
    if text is not None:
        (tmp_path / STUDY).write_bytes(text.encode("latin-1"))
    with pytest.raises(Exception, match=STUDY):
        read_study(tmp_path)
