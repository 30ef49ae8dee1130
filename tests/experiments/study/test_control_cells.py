"""Control arms as cells: their names, their files, and that every team can be played with every arm."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from maeil.extensions.control.events import ControlRead
from maeil.trace import read_trace
from maeil.trace.events import MessageRead, MessageSent
from maeil.user_errors import UserError
from quorum.experiments.configuration.cell import Cell
from quorum.experiments.configuration.compose import Composer
from quorum.experiments.configuration.schema import validate
from quorum.experiments.episode.runner import run_cell
from quorum.experiments.results.run_folder import RunFolder
from quorum.experiments.results.verify import verify_run
from quorum.experiments.study.donors import write_donors
from quorum.experiments.study.mechanism import acted_steps
from quorum.experiments.sweep.grid import axes
from tests.experiments.study.cells import ARMS, TEAMS, WORLDS, arm_words, donors_of, treatment
from tests.recorded import recorded_run

TALK = ("agents=naive", "llm=simulated", "n=3", "max_steps=6", "topology=debate")


@pytest.fixture
def donors(tmp_path: Path) -> Path:
    return donors_of((*TALK, "seed=9"), tmp_path)


def named(*words: str) -> Cell:
    return Cell.compose([*TALK, *words])


def test_what_a_donor_file_holds_names_the_cell_and_where_it_is_does_not(donors: Path, tmp_path: Path) -> None:
    def shuffled(file: Path) -> Cell:
        return named("extension=shuffled", f"extension.control.donors={file}")

    cell = shuffled(donors)
    moved = Path(shutil.copy(donors, tmp_path / "elsewhere.json"))
    assert shuffled(moved).name == cell.name
    assert cell.inputs.keys() >= {"extension.control.donors"}
    donors.write_text('[{"t": 0, "sender": 0, "content": "other"}]')
    assert shuffled(donors).name != cell.name


def test_each_arm_is_another_cell() -> None:
    names = {named(*words).name for words in ((), *(("extension=" + arm,) for arm in ARMS if arm != "shuffled"))}
    assert len(names) == 5


def test_a_recorded_run_can_be_read_without_its_donors(donors: Path, tmp_path: Path) -> None:
    result = run_cell(named(*arm_words("shuffled", donors)), tmp_path / "runs")
    donors.unlink()
    configuration = validate(RunFolder(result.folder).configuration(), recorded=True)
    assert configuration.extension["control"].donors == str(donors)
    verify_run(result.folder)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["extension=shuffled"], "extension.control.donors"),
        (["extension=shuffled", "extension.control.donors=null"], "shuffled needs the file"),
        (["extension=mute", "extension.control.donors=some.json"], "mute takes none"),
        (["extension=shuffled", "extension.control.donors=nowhere.json"], "nowhere.json: there is no such file"),
        (["extension=mute", "extension.control.arm=louder"], "extension.control.arm"),
    ],
)
def test_wrong_values_are_refused_in_a_line(words: list[str], message: str) -> None:
    with pytest.raises(UserError, match=message):
        named(*words)


def test_a_file_that_is_none_is_refused_when_the_cell_is_named(tmp_path: Path) -> None:
    file = tmp_path / "donors.json"
    file.write_text("[1]")
    with pytest.raises(UserError, match=r"extension\.control: donors: .*no list of messages"):
        named(*arm_words("shuffled", file))


@pytest.mark.parametrize("words", ["extension=null", "extension=[null]", 'extension="null"'])
def test_null_is_the_name_of_an_arm_on_the_command_line(words: str) -> None:
    assert named(words).configuration.extension["control"].arm == "null"


def test_arms_are_values_of_a_sweep() -> None:
    (axis,) = axes(["extension=mute,null,[null,repair]"], Composer())
    assert [value.value() for value in axis.values] == ["mute", "null", ["null", "repair"]]


def test_donors_are_the_messages_of_a_run(donors: Path) -> None:
    run = recorded_run(*TALK, "seed=9")
    sent = [(one.t, one.event) for one in read_trace(run).stamped(MessageSent)]
    assert json.loads(donors.read_bytes()) == [
        {"t": t, "sender": event.sender, "kind": event.what, "content": event.content} for t, event in sent
    ]


def test_a_silent_run_gives_no_donors(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="nobody has said anything"):
        write_donors(recorded_run("agents=idle", "n=2", "max_steps=2"), tmp_path / "donors.json")


def test_shuffled_reads_what_was_said_on_the_other_board(donors: Path, tmp_path: Path) -> None:
    result = run_cell(named("seed=8", *arm_words("shuffled", donors)), tmp_path)
    texts = {message["content"] for message in json.loads(donors.read_bytes())}
    read = list(read_trace(result.folder).of(ControlRead))
    assert read
    assert {event.content for event in read} <= texts


def test_talk_acted_in_the_steps_before_which_somebody_read(tmp_path: Path) -> None:
    trace = read_trace(recorded_run(*TALK, "seed=9"))
    assert acted_steps(trace) == tuple(sorted({one.t for one in trace.stamped(MessageRead)}))
    muted = read_trace(run_cell(named("seed=9", "extension=mute"), tmp_path).folder)
    assert 0 in acted_steps(muted), "the treatment would have acted there"
    assert acted_steps(trace, "repair") == ()
    words = ["agents=naive", "llm=simulated", "llm.poor=0.5", "n=4", "max_steps=12", "extension=repair"]
    repaired = read_trace(recorded_run(*words))
    starts = {one.t for one in repaired.events if one.event.kind == "repair_start"}
    assert acted_steps(repaired, "repair") == tuple(sorted(starts))
    assert starts


def test_rule_based_minds_that_listen_are_affected(tmp_path: Path) -> None:
    """Negotiators order and claim by what they hear: followers without orders go their own way."""
    words = ["agents=negotiator", "n=6", "max_steps=8", "topology=centralized", "seed=3"]

    def plans(*more: str) -> list[object]:
        folder = run_cell(Cell.compose([*words, *more]), tmp_path).folder
        return [(e.agent, e.actions) for e in (one.event for one in read_trace(folder).events) if e.kind == "plan"]

    assert plans("extension=mute") != plans()


FEW = [("cube", "hmas2", ("null", "truth")), ("squeeze", "naive centralized", ("own", "shuffled"))]
ALL = [(world, team) for world in WORLDS for team in TEAMS]


def play_arms(world: str, team: str, arms: Sequence[str], tmp_path: Path, steps: int) -> None:
    words = treatment(world, team, f"max_steps={steps}")
    donors = donors_of(treatment(world, team, f"max_steps={steps}", seed=7), tmp_path)
    for arm in arms:
        result = run_cell(Cell.compose([*words, *arm_words(arm, donors)]), tmp_path / arm)
        trace = read_trace(result.folder)
        assert len(list(trace.of(ControlRead))) == len(list(trace.of(MessageRead)))


@pytest.mark.parametrize(("world", "team", "arms"), FEW)
def test_a_team_can_be_played_with_an_arm(world: str, team: str, arms: Sequence[str], tmp_path: Path) -> None:
    play_arms(world, team, arms, tmp_path, steps=2)


@pytest.mark.conformance
@pytest.mark.parametrize(("world", "team"), ALL)
def test_all_teams_in_all_worlds_can_be_played_with_every_arm(world: str, team: str, tmp_path: Path) -> None:
    play_arms(world, team, ARMS, tmp_path, steps=8)
