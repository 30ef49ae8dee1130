"""Control arms as cells: their names, their files, and that every team can be played with every arm."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from statistics import fmean

import pytest

from maeil.metrics import compute_metrics
from maeil.metrics.outcome import scores
from maeil.trace import read_trace
from maeil.trace.events import MessageSent, MessagesRead
from quorum.configuration.cell import Cell
from quorum.configuration.compose import Composer
from quorum.configuration.schema import validate
from quorum.episode.runner import run_cell
from quorum.runs.run_folder import RunFolder
from quorum.runs.verify import verify_run
from quorum.study.control.events import ControlRead
from quorum.study.donors import write_donors
from quorum.sweeps.grid import axes
from quorum_base.user_errors import UserError
from tests.recorded import recorded_run
from tests.study.cells import ARMS, arm_words, donors_of

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
        (["extension=shuffled", "extension.control.donors=null"], "shuffled needs a file"),
        (["extension=mute", "extension.control.donors=some.json"], "the arm mute takes no donors"),
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
    with pytest.raises(UserError, match=r"extension\.control: donors: .*not a list of messages"):
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
        {"seed": 9, "t": t, "sender": event.sender, "kind": event.what, "content": event.content} for t, event in sent
    ]


def test_a_silent_run_gives_no_donors(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="nobody says anything"):
        write_donors([recorded_run("agents=idle", "n=2", "max_steps=2")], tmp_path / "donors.json")


def test_shuffled_reads_what_was_said_on_the_other_board(donors: Path, tmp_path: Path) -> None:
    result = run_cell(named("seed=8", *arm_words("shuffled", donors)), tmp_path)
    texts = {message["content"] for message in json.loads(donors.read_bytes())}
    read = list(read_trace(result.folder).of(ControlRead))
    assert read
    assert {event.content for event in read} <= texts


def test_a_board_does_not_read_its_own_messages(tmp_path: Path) -> None:
    file = tmp_path / "donors.json"
    write_donors([recorded_run(*TALK, "seed=9"), recorded_run(*TALK, "seed=8")], file)
    result = run_cell(named("seed=8", *arm_words("shuffled", file)), tmp_path)
    own = {donor["content"] for donor in json.loads(file.read_bytes()) if donor["seed"] != 8}
    read = {event.content for event in read_trace(result.folder).of(ControlRead)}
    assert read
    assert read <= own


def test_steps_after_talk_are_those_before_which_somebody_read_whatever_an_arm_made_of_it(tmp_path: Path) -> None:
    trace = read_trace(recorded_run(*TALK, "seed=9"))
    steps = {one.t for one in trace.stamped(MessagesRead)} & set(range(trace.end.steps if trace.end else 0))
    found = compute_metrics(trace)
    assert found["communication.steps_after_talk"] == len(steps) > 0
    after = scores(trace)
    assert found["communication.gain_after_talk"] == pytest.approx(fmean(after[t + 1] - after[t] for t in steps))
    muted = compute_metrics(read_trace(run_cell(named("seed=9", "extension=mute"), tmp_path).folder))
    assert muted["communication.steps_after_talk"], "the treatment would have acted there"
    alone = [word for word in TALK if not word.startswith("topology=")]
    silent = compute_metrics(read_trace(recorded_run(*alone, "topology=individual")))
    assert silent["communication.steps_after_talk"] == 0
    assert silent["communication.gain_after_talk"] is None
