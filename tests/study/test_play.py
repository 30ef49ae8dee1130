"""A study from its command to its files: real sweeps of a small team, whose simulated model answers by rules."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from quorum.study.findings import findings
from quorum.study.page import page
from quorum.study.play import Played, Unfinished, play
from quorum.study.study import Study, StudyRequest
from quorum.study.tables import tables
from quorum.study.write import facts, write_study
from quorum_base.user_errors import UserError

TEAM = ("agents=naive", "topology=debate", "n=2", "max_steps=40", "engine.workers=1", "env.side=12")
BOARDS = "seed=range(0,4)"
DEAD = ("llm=openai", "llm.model=m", "llm.api_key_env=null", "llm.tries=1")
"""A model that nobody serves."""


def request(out: Path, question: str = "talk", *words: str, **options: object) -> StudyRequest:
    return StudyRequest((*TEAM, *(words or (BOARDS,))), out, question=question, **options)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    found = play(Study.of(request(tmp_path_factory.mktemp("study"))), quiet=True)
    write_study(found)
    return found


def test_every_arm_of_the_question_is_played_on_the_same_boards(played: Played) -> None:
    study, groups = played.analysis.study, played.analysis.comparison.groups
    assert study.skipped == {}
    assert {arm for arm, _ in groups} == study.arms.keys()
    assert {tuple(sorted({row.seed for row in group.rows})) for group in groups.values()} == {tuple(range(4))}


def test_the_parts_of_talk_add_up_to_the_whole(played: Played) -> None:
    values = {effect.file.name: effect.difference.mean.value for effect in played.analysis.effects}
    assert values["turns"] + values["envelope"] + values["content"] == pytest.approx(values["total"])


def test_who_reads_a_shuffled_message_reads_what_was_said_on_another_board(played: Played) -> None:
    folder = played.analysis.study.folder
    donors = orjson.loads((folder / "donors.json").read_bytes())
    assert {donor["seed"] for donor in donors} == {0, 1}
    group = played.analysis.comparison.groups["shuffled", None]
    for row in group.rows:
        trace = (row.folder / "trace.jsonl").read_text().splitlines()
        read = [event["content"] for line in trace if (event := orjson.loads(line))["event"] == "control_read"]
        assert set(read) <= {donor["content"] for donor in donors if donor["seed"] != row.seed}


def test_its_files_state_what_was_found_and_that_it_is_simulated(played: Played) -> None:
    folder = played.analysis.study.folder
    stored = orjson.loads((folder / "study.json").read_bytes())
    assert stored["simulated"] is True
    assert stored["findings"] == findings(played)
    assert stored["looks"][-1]["stop"] == "by design"
    assert stored["effects"]["total"]["arms"] == ["treatment", "silent"]
    text = (folder / "study.html").read_text()
    assert "Simulated language model" in text
    assert "noise floor" in text
    assert (folder / "sheet.html").exists()
    assert str(folder) not in text


def test_the_same_command_plays_nothing_twice_and_more_boards_add_to_it(played: Played) -> None:
    study = played.analysis.study
    again = play(study, quiet=True)
    assert again.sweep.finished == ()
    more = Study.of(replace(study.request, words=(*TEAM, "seed=range(0,5)")))
    assert more.folder == study.folder
    found = play(more, quiet=True)
    assert found.analysis.boards == 5
    assert [look.boards for look in found.record.looks][-1] == 5
    assert len({row.name for row in found.analysis.comparison.pool.rows}) == 5 * len(study.arms)


def test_the_analysis_of_some_boards_leaves_out_those_that_an_earlier_command_added(played: Played) -> None:
    found = play(played.analysis.study, quiet=True)
    assert found.analysis.boards == 4


def test_a_condition_adds_blocks_of_boards_and_the_look_says_so(tmp_path: Path) -> None:
    asked = request(tmp_path, "talk", "seed=range(0,3)", until="half_width(steps_or_limit) < 1000", most_boards=9)
    found = play(Study.of(asked), quiet=True)
    assert [look.stop for look in found.record.looks] == [
        *["goes on"] * (len(found.record.looks) - 1),
        "until half_width(steps_or_limit) < 1000",
    ]
    assert found.analysis.boards == 3 * len(found.record.looks)
    never = play(Study.of(replace(asked, until="half_width(steps_or_limit) < 0.001", most_boards=6)), quiet=True)
    assert never.record.looks[-1].stop == "most boards"
    assert never.analysis.boards == 6


def test_a_budget_that_is_used_up_ends_the_study_and_is_recorded(tmp_path: Path) -> None:
    found = play(Study.of(request(tmp_path, "talk", "seed=range(0,6)", budget_tokens=30_000)), quiet=True)
    assert found.record.looks[-1].stop == "budget"
    assert page(found)
    assert tables(found)
    assert facts(found)["boards"] >= 1


def test_a_study_whose_model_does_not_answer_says_so_and_goes_on_by_the_same_command(
    tmp_path: Path, hanging_up: str
) -> None:
    study = Study.of(request(tmp_path, "team", "seed=0", *DEAD, f"llm.base_url={hanging_up}", budget_calls=100))
    with pytest.raises(Unfinished) as caught:
        play(study, quiet=True)
    assert "the same command runs them again" in caught.value.sweep.complaint
    assert caught.value.sweep.exit_code == 1
    assert not (study.folder / "study.json").exists()


def test_a_damaged_record_is_named(tmp_path: Path) -> None:
    study = Study.of(request(tmp_path))
    study.folder.mkdir(parents=True)
    (study.folder / "study.json").write_text('{"looks": 3}')
    with pytest.raises(UserError, match=r"study\.json: looks"):
        play(study, quiet=True)


def test_a_folder_with_signs_that_the_grammar_uses_is_a_folder(tmp_path: Path) -> None:
    out = tmp_path / 'my runs, (all) of "them"'
    asked = replace(
        request(out, "talk", "seed=range(0,2)"), words=(*TEAM[:3], "max_steps=10", TEAM[4], "seed=range(0,2)")
    )
    found = play(Study.of(asked), quiet=True)
    assert ("shuffled", None) in found.analysis.comparison.groups


def test_blocks_end_at_the_most_boards_also_within_a_block(tmp_path: Path) -> None:
    words = (*TEAM[:3], "max_steps=10", TEAM[4], "seed=range(0,3)")
    asked = replace(request(tmp_path, "team"), words=words, until="half_width(steps_or_limit) < 0.001", most_boards=4)
    assert "--most-boards 4" in asked.command
    found = play(Study.of(asked), quiet=True)
    assert (found.analysis.boards, found.record.looks[-1].stop) == (4, "most boards")


def test_a_clock_that_counts_seconds_has_no_audit_and_says_why(tmp_path: Path) -> None:
    words = (*TEAM[:3], "max_steps=5", TEAM[4], "clock=seconds", "seed=range(0,2)")
    found = play(Study.of(replace(request(tmp_path), words=words)), quiet=True)
    assert found.audits == []
    assert any("were not compared with the treatment's" in finding for finding in findings(found))
