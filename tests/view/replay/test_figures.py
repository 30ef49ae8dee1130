"""The trace figure: its three rows, its files, and its mistakes."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from PIL import Image

from maeil.trace.events import MessageSent
from quorum.comparison.figures.style import rendered, styled
from quorum.runs.recorded_episode import open_episode
from quorum.view.replay.figures import CONSTRAINTS, STAGES, TITLES, TimeAxis, trace_figure
from tests.view.replay.conftest import edit_trace

TEXTS = ["agent_0", "agent_1", "agent_2", "agent_3"]


@pytest.fixture
def run(played, tmp_path):
    (tmp_path / "run").symlink_to(played("debate").folder)
    return "run"


def drawn(folder, width=7.0, first=0, last=None):
    run = open_episode(folder)
    with styled():
        figure = trace_figure(run, first, run.steps if last is None else last, width)
        rendered(figure, "pdf")
    return run, figure, figure.axes


def texts(artists):
    return [artist.get_text() for artist in artists if artist.get_text()]


def test_it_has_emcoops_three_rows_and_names_agents_tasks_and_the_run(played):
    _, figure, panels = drawn(played("debate").folder)
    assert tuple(panel.get_title(loc="left") for panel in panels) == TITLES
    assert texts(panels[0].get_yticklabels()) == texts(panels[1].get_yticklabels()) == TEXTS
    score, zero, *tasks = texts(panels[2].get_yticklabels())
    assert (score.split()[0], zero) == ("score", "0")
    assert tasks
    assert all(task.startswith("block_") for task in tasks)
    (remark,) = texts(figure.texts)
    assert remark.replace("\n", " ").startswith("Simulated language model. cube · 4 agents · debate · naive")
    labels = texts(figure.legends[0].get_texts())
    assert {look[0] for look in (*STAGES.values(), *CONSTRAINTS)} < set(labels)


def test_every_message_is_a_line_to_each_of_its_readers(played):
    run, _, (panel, *_) = drawn(played("debate").folder)
    sent = [stamped.event for stamped in run.trace.stamped(MessageSent)]
    (lines,) = [one for one in panel.collections if type(one).__name__ == "LineCollection"]
    ends = sorted((line[0][1], line[-1][1]) for line in lines.get_segments())
    assert ends == sorted((event.sender, reader) for event in sent for reader in event.recipients)
    assert sent


def test_a_run_without_messages_says_so(played):
    _, figure, (panel, *_) = drawn(played("transport").folder)
    assert "No messages." in texts(figure.texts)[0].replace("\n", " ")
    assert next(one for one in panel.collections if type(one).__name__ == "LineCollection").get_segments() == []


def test_the_stages_cover_the_whole_time_without_a_gap(played):
    _, _, (panel, *_) = drawn(played("debate").folder)
    bars = [path.get_extents() for one in panel.collections[:-1] if one.get_zorder() == 2 for path in one.get_paths()]
    low, high = panel.get_xlim()
    for row in range(4):
        spans = sorted((bar.x0, bar.x1) for bar in bars if bar.y0 < row < bar.y1)
        assert (spans[0][0], spans[-1][1]) == pytest.approx((low, high))
        assert all(math.isclose(end, begin) for (_, end), (begin, _) in pairwise(spans))


@pytest.mark.parametrize("name", ["crafter", "transport_hard", "squeeze", "centralized"])
@pytest.mark.parametrize("width", [3.3, 7.0])
def test_every_world_has_the_figure_in_one_column_and_in_two(played, name, width):
    _, figure, panels = drawn(played(name).folder, width)
    assert figure.get_figwidth() == width
    box = figure.bbox
    for panel in panels:
        assert box.x0 <= panel.get_window_extent().x0 < panel.get_window_extent().x1 <= box.x1


def test_the_thinking_before_a_step_is_unfolded_in_front_of_it():
    axis = TimeAxis([(0.0, 10.0, 2), (10.0, 10.0, 0), (10.0, 14.0, 1)], 2)
    assert [axis.step(t) for t in range(3)] == pytest.approx([1.3, 2.3, 4.25])
    assert axis.at(0, 5.0) == pytest.approx(0.65)
    assert axis.at(2, 14.0) == axis.step(2)
    assert axis.starts == pytest.approx([0.0, 2.3, 3.3, 4.75])


def test_without_a_file_it_is_written_as_png_and_pdf(quorum, run, tmp_path):
    done = quorum("replay", run, "--figure", "trace", "--width", "660", "--to", "5")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert "figure: trace.png, trace.pdf" in done.stderr
    assert (tmp_path / "trace.pdf").read_bytes().startswith(b"%PDF")
    with Image.open(tmp_path / "trace.png") as picture:
        assert picture.width == 660
    before = (tmp_path / "trace.png").read_bytes()
    again = quorum("replay", run, "--figure", "trace", "--width", "660", "--to", "5")
    assert (again.returncode, again.stderr.splitlines()[0]) == (2, "error: --out trace.png: this file already exists")
    assert quorum("replay", run, "--figure", "trace", "--width", "660", "--to", "5", "--force").returncode == 0
    assert (tmp_path / "trace.png").read_bytes() == before, "equal runs are equal files"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--figure", "trac"], "--figure trac: there is no such figure\nDid you mean 'trace'? Figures: trace."),
        (["--figure", "trace", "--out", "f.gif"], "--out f.gif: a figure has another ending\nEndings: pdf, png, svg."),
        (["--figure", "trace", "--out", "not/there.pdf"], "there is no folder not"),
        (["--figure", "trace", "--width", "300"], "--width 300: a figure is 500 to 4000 pixels wide"),
        (["--figure", "trace", "--from", "99"], "--from 99: run ends with step"),
        (["run", "--figure", "trace"], "--figure trace: it shows one run\nLeave out run."),
    ],
)
def test_a_mistake_is_one_message_and_no_file(quorum, run, tmp_path, arguments, said):
    done = quorum("replay", run, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_a_run_that_breaks_off_is_drawn_up_to_its_end(copied):
    folder = copied("debate")
    lines = (folder / "trace.jsonl").read_bytes().splitlines(keepends=True)
    for kept in (1, len(lines) // 3, len(lines) // 2):
        (folder / "trace.jsonl").write_bytes(b"".join(lines[:kept]))
        assert len(drawn(folder)[2]) == len(TITLES)


def test_a_trace_that_contradicts_itself_is_one_message_and_no_file(copied, quorum, tmp_path):
    folder = copied("debate")
    edit_trace(folder, lambda event: {**event, "agent": 77} if event["event"] == "stage" else event)
    done = quorum("replay", str(folder), "--figure", "trace")
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert "debate: damaged: its events contradict each other" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["debate"]
