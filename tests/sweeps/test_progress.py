"""What is shown while a sweep runs, drawn to a string with a clock of our own."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from quorum.agents.llm.spending import Spent
from quorum.installation.provenance import CodeVersion
from quorum.more_providers.batches.journal import BatchStatus
from quorum.runs.finished import FinishedCell
from quorum.storage.outputs import clock_time
from quorum.sweeps.engines.protocol import CallStatus, Finished, Started
from quorum.sweeps.plan import plan
from quorum.sweeps.progress import SweepProgress, lines, live_table
from quorum.sweeps.queue import SILENT, Queue
from quorum.sweeps.run import SweepStatus
from quorum.sweeps.spending import Costs
from quorum.sweeps.stopping import Stop


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


class Sweeping:
    """A sweep of four cells in two arms that is moved by hand."""

    def __init__(self, folder: Path, options: Path) -> None:
        (options / "experiment" / "two.yaml").write_text(
            'fixed: [agents=naive]\ngrid: ["seed=0,1"]\narms: {small: [n=1], large: [n=2]}\n'
        )
        cells = plan(["experiment=two"], options).cells
        costs = Costs()
        self.names = [cell.name for cell in cells]
        self.clock = Clock()
        self.queue = Queue(folder, cells, costs, self.clock)
        self.status = SweepStatus(cells, {}, {}, cells, costs)

    def begin(self, name: str) -> None:
        while self.queue.take(1, idle=True):
            pass
        self.queue.report(Started(name))

    def finish(
        self, name: str, outcome: str = "success", simulated: bool = True, completion: float | None = None
    ) -> None:
        code, spent = CodeVersion("1", None), Spent(4, 1000, 0.25)
        self.queue.report(Finished(FinishedCell(name, "", outcome, "no luck", 1.0, spent, simulated, code, completion)))


@pytest.fixture
def sweeping(tmp_path: Path, options: Path) -> Sweeping:
    return Sweeping(tmp_path, options)


def test_the_facts_follow_the_sweep(sweeping: Sweeping) -> None:
    progress = SweepProgress(sweeping.queue, sweeping.status, sweeping.clock)
    assert progress.facts() == ["0/4 done", "0 running", "0 failed", "0:00 min so far"]
    sweeping.begin(sweeping.names[0])
    sweeping.begin(sweeping.names[1])
    sweeping.clock.now += 30
    sweeping.finish(sweeping.names[0])
    sweeping.queue.report(CallStatus("here:1", 50, 7))
    assert progress.facts() == [
        "1/4 done", "1 running", "0 failed", "1,000 tokens", "$0.25 (simulated)", "ETA 1:30 min", "1.7 calls/s",
        "7 429s",
    ]  # fmt: skip
    sweeping.finish(sweeping.names[1], "error")
    sweeping.queue.end(Stop.INTERRUPTED, "interrupted")
    assert progress.facts()[0:3] == ["2/4 done", "0 running", "1 failed"]
    assert progress.facts()[-1] == "stopping"


def test_the_facts_tell_of_the_calls_under_way_and_of_what_was_answered_in_cells_that_are_not_done(
    sweeping: Sweeping,
) -> None:
    progress = SweepProgress(sweeping.queue, sweeping.status, sweeping.clock)
    sweeping.begin(sweeping.names[0])
    sweeping.queue.report(CallStatus("here:1", under_way=3, longest=4.0))
    sweeping.clock.now += 2
    sweeping.queue.report(CallStatus("here:2", under_way=2, longest=1.0))
    assert progress.facts()[3:-1] == ["5 calls under way, the longest for 6 s"]
    sweeping.clock.now += 1
    sweeping.queue.report(CallStatus("here:1", 2, 0, Spent(2, 3000, 0.5), under_way=3, longest=7.0))
    assert progress.facts()[3:6] == ["5 calls under way, the longest for 7 s", "3,000 tokens", "$0.50"]
    sweeping.queue.report(CallStatus("here:1", 4, 0, Spent(4, 4000, 0.6), simulated=True, under_way=3, longest=7.0))
    sweeping.finish(sweeping.names[0], simulated=False)  # its worker has reported this already
    assert progress.facts()[4:6] == ["4,000 tokens", "$0.60 (simulated)"]
    sweeping.queue.report(CallStatus("here:1", 4, 0, Spent(4, 4000, 0.6), simulated=True))
    assert progress.facts()[3] == "2 calls under way, the longest for 2 s"
    sweeping.clock.now += SILENT
    assert progress.facts()[3] == "4,000 tokens"


def test_what_finished_cells_took_is_shown_where_no_worker_reports_more(sweeping: Sweeping) -> None:
    progress = SweepProgress(sweeping.queue, sweeping.status, sweeping.clock)
    sweeping.begin(sweeping.names[0])
    sweeping.queue.report(CallStatus("here:1", 1, 0, Spent(1, 10, 0.1)))
    sweeping.finish(sweeping.names[0])
    assert progress.facts()[3:5] == ["1,000 tokens", "$0.25 (simulated)"]


def test_money_of_real_models_is_not_called_simulated(sweeping: Sweeping) -> None:
    progress = SweepProgress(sweeping.queue, sweeping.status, sweeping.clock)
    sweeping.begin(sweeping.names[0])
    sweeping.finish(sweeping.names[0], simulated=False)
    assert "$0.25" in progress.facts()


def test_calls_a_second_are_those_of_the_last_ten(sweeping: Sweeping) -> None:
    progress = SweepProgress(sweeping.queue, sweeping.status, sweeping.clock)
    for second in range(60):
        sweeping.clock.now += 1
        sweeping.queue.report(CallStatus("here:1", 3 * (second + 1)))
        progress.calls_per_second()
    assert progress.calls_per_second() == pytest.approx(3.0)
    for _ in range(20):
        sweeping.clock.now += 1
        progress.calls_per_second()
    assert progress.calls_per_second() == 0.0


def test_lines_come_every_ten_seconds_and_for_every_failure(sweeping: Sweeping) -> None:
    text = io.StringIO()
    with lines(Console(file=text), "mine", sweeping.queue, sweeping.status, sweeping.clock) as show:
        sweeping.queue.show = show
        assert text.getvalue() == "mine: 0/4 done, 4 to run\n"
        sweeping.begin(sweeping.names[0])
        sweeping.clock.now += 9
        show()
        assert len(text.getvalue().splitlines()) == 1
        sweeping.clock.now += 2
        show()
        assert text.getvalue().splitlines()[1] == "mine: 0/4 done, 1 running, 0 failed, 0:11 min so far"
        sweeping.finish(sweeping.names[0], "error")
        assert text.getvalue().splitlines()[2] == f"failed: {sweeping.names[0]}: no luck"
        sweeping.queue.end(Stop.INTERRUPTED, "interrupted")
        show()
        reported = "stopping: interrupted; 3 cells under way finish first (Ctrl-C again drops them)"
        assert text.getvalue().splitlines()[3:] == [reported]


def test_the_table_has_a_row_an_arm_and_is_drawn_four_times_a_second(sweeping: Sweeping) -> None:
    text = io.StringIO()
    console = Console(file=text, force_terminal=True, width=100, color_system=None)
    with live_table(console, "mine", sweeping.queue, sweeping.status, sweeping.clock) as show:
        sweeping.begin(sweeping.names[2])
        sweeping.finish(sweeping.names[0], completion=0.25)
        sweeping.finish(sweeping.names[1], "error")
        drawn = len(text.getvalue())
        sweeping.clock.now += 0.1
        show()
        sweeping.clock.now += 0.2
        before = text.getvalue()[drawn:]
        show()
        picture = text.getvalue()[drawn + len(before) :]
    rows = [line.split() for line in picture.replace("\x1b", "\n").splitlines()]
    assert ["arm", "n", "done", "of", "running", "failed", "completion"] in rows
    assert ["small", "1", "2", "2", "0", "1", "0.25"] in rows, "a failed cell is in no mean"
    assert ["large", "2", "0", "2", "1", "0", "-"] in rows
    assert "2/4 done · 1 running · 1 failed" in picture
    assert f"failed: {sweeping.names[1]}: no luck" in before
    assert "2/4 done" not in before


def test_without_arms_the_table_is_by_the_number_of_agents(tmp_path: Path) -> None:
    cells = plan(["n=1,2,4", "seed=0,1"]).cells
    queue = Queue(tmp_path, cells, Costs(), Clock())
    text = io.StringIO()
    console = Console(file=text, force_terminal=True, width=80, height=24, color_system=None)
    clock = Clock()
    with live_table(console, "mine", queue, SweepStatus(cells, {}, {}, cells, Costs()), clock) as show:
        clock.now += 1
        show()
    rows = [line.split() for line in text.getvalue().replace("\x1b", "\n").splitlines()]
    assert ["n", "done", "of", "running", "failed", "completion"] in rows
    assert ["4", "0", "2", "0", "0", "-"] in rows


def test_without_arms_the_components_that_vary_are_the_arms(tmp_path: Path) -> None:
    cells = plan(["n=1,2", "agents=naive", "topology=individual,debate", "seed=0,1,2"]).cells
    queue = Queue(tmp_path, cells, Costs(), Clock())
    text = io.StringIO()
    console = Console(file=text, force_terminal=True, width=80, height=24, color_system=None)
    clock = Clock()
    with live_table(console, "mine", queue, SweepStatus(cells, {}, {}, cells, Costs()), clock) as show:
        clock.now += 1
        show()
    rows = [line.split() for line in text.getvalue().replace("\x1b", "\n").splitlines()]
    assert ["arm", "n", "done", "of", "running", "failed", "completion"] in rows
    assert [["debate", size, "0", "3", "0", "0", "-"] in rows for size in ("1", "2")] == [True, True]


def test_a_table_that_is_too_long_for_the_screen_is_by_arm_alone(sweeping: Sweeping) -> None:
    text = io.StringIO()
    console = Console(file=text, force_terminal=True, width=100, height=7, color_system=None)
    with live_table(console, "mine", sweeping.queue, sweeping.status, sweeping.clock) as show:
        sweeping.clock.now += 1
        show()
    assert ["arm", "done", "of", "running", "failed", "completion"] in [
        line.split() for line in text.getvalue().replace("\x1b", "\n").splitlines()
    ]


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.4, "0:00 min"), (59.6, "1:00 min"), (3599, "59:59 min"), (7325, "2:02:05 h")]
)
def test_durations(seconds: float, text: str) -> None:
    assert clock_time(seconds) == text


def test_waves_and_open_batches_with_their_money_and_time_are_shown(sweeping: Sweeping) -> None:
    progress = SweepProgress(sweeping.queue, sweeping.status, sweeping.clock)
    assert not any("waves" in fact for fact in progress.facts())
    status = BatchStatus(waves=3, open=2, asked=400, age=95, ended=2, seconds=180.0, answers=200, replayed=20, usd=0.5)
    sweeping.queue.report(CallStatus("here:1", delivery=tuple(status.facts())))
    facts = progress.facts()
    assert "3 waves" in facts
    assert "2 batches open: 400 requests, 0:01:35 so far, usually 0:03:00" in facts
    assert "about $1.00 in them" in facts
    assert "20 answers from an earlier command" in facts
    sweeping.queue.report(CallStatus("here:1", delivery=tuple(BatchStatus(waves=4, usd=None).facts())))
    assert "4 waves" in progress.facts()
    assert not any("open" in fact or "about" in fact for fact in progress.facts())
