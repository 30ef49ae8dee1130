import gzip
import subprocess
import sys
import textwrap
from pathlib import Path

import orjson
import pytest

from maeil.errors import NewerTrace, ReplayMismatch, TraceError
from maeil.trace import Recorder, comparable, parse_some, read_trace, replay
from maeil.trace.events import EpisodeEnd, EpisodeStart, StepTaken
from tests.maeil.corridor import Corridor
from tests.maeil.scripted import Scripted, play, walk


@pytest.fixture
def recorded(tmp_path):
    path = tmp_path / "trace.jsonl"
    events = play([Scripted(walk(1)), Scripted(walk(3))], path=path)
    return path, events


def test_what_is_read_is_what_was_recorded(recorded):
    path, events = recorded
    trace = read_trace(path.parent)
    assert [orjson.dumps(a) for a in trace.events] == [orjson.dumps(b) for b in events]
    assert not trace.torn
    assert [event.seq for event in trace.events] == list(range(len(events)))
    assert trace.end is not None


def test_a_compacted_trace_reads_the_same(recorded):
    path, _ = recorded
    whole = read_trace(path)
    path.with_name("trace.jsonl.gz").write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()
    assert read_trace(path.parent).events == whole.events


def test_every_prefix_is_readable_and_a_torn_line_is_left_out(recorded):
    path, _ = recorded
    data = path.read_bytes()
    first = data.index(b"\n") + 1
    for cut in range(first, len(data), 37):
        path.write_bytes(data[:cut])
        trace = read_trace(path)
        assert trace.torn == (data[cut - 1 : cut] != b"\n")
        assert len(trace.events) == data[:cut].count(b"\n")
        assert trace.end is None


def test_a_damaged_line_is_named(recorded):
    path, _ = recorded
    data = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*data[:3], b'{"seq":3,"event":"nonsense"}\n', *data[4:]]))
    with pytest.raises(TraceError, match=r"line 4: not an event"):
        read_trace(path)


def test_a_newer_trace_is_refused_with_the_way_out(recorded):
    path, _ = recorded
    path.write_bytes(path.read_bytes().replace(b'"schema":6', b'"schema":999', 1))
    with pytest.raises(NewerTrace, match=r"schema 999.*update"):
        read_trace(path)


def test_an_older_trace_is_refused_though_all_its_events_can_be_read(recorded):
    path, _ = recorded
    path.write_bytes(path.read_bytes().replace(b'"schema":6', b'"schema":5', 1))
    with pytest.raises(TraceError, match=r"line 1: .*schema 5, this version reads 6: use the version that wrote it"):
        read_trace(path)


def test_some_events_are_those_of_the_whole_trace_and_no_other_line_is_parsed(recorded):
    path, events = recorded
    lines = path.read_bytes().splitlines(keepends=True)
    broken = [b"{no event}\n" if b'"event":"stage"' in line else line for line in lines]
    found = parse_some(broken, StepTaken)
    wanted = (EpisodeStart, StepTaken, EpisodeEnd)
    assert [orjson.dumps(a) for a in found] == [orjson.dumps(b) for b in events if isinstance(b.event, wanted)]


def test_some_events_are_those_of_an_episode_that_has_ended(recorded):
    path, _ = recorded
    lines = path.read_bytes().splitlines(keepends=True)
    with pytest.raises(TraceError, match="breaks off"):
        parse_some(lines[:-1], StepTaken)
    with pytest.raises(TraceError, match="not an event"):
        parse_some([*lines[:-1], lines[-1][:-20]], StepTaken)
    with pytest.raises(NewerTrace, match="update"):
        parse_some([lines[0].replace(b'"schema":6', b'"schema":999'), *lines[1:]], StepTaken)


def test_no_trace_is_an_error(tmp_path):
    with pytest.raises(TraceError, match=r"no trace\.jsonl"):
        read_trace(tmp_path)


def test_a_trace_is_never_overwritten(recorded):
    path, _ = recorded
    with pytest.raises(FileExistsError):
        Recorder(path)


def test_comparable_lines_have_no_wall_time(recorded):
    path, _ = recorded
    for line in comparable(path):
        assert not {"wall", "seconds"} & orjson.loads(line).keys()


def test_a_process_that_is_killed_leaves_every_step_that_it_took(tmp_path):
    script = """
        import os, signal, sys
        from pathlib import Path
        from tests.maeil.scripted import Scripted, play, walk
        from tests.maeil.corridor import Corridor

        def listen(stamped):
            if stamped.t == 3:
                os.kill(os.getpid(), signal.SIGKILL)

        play([Scripted(walk(5))], Corridor(1, length=5), path=Path(sys.argv[1]), listener=listen)
    """
    path = tmp_path / "trace.jsonl"
    command = [sys.executable, "-c", textwrap.dedent(script), str(path)]
    done = subprocess.run(command, check=False, cwd=Path(__file__).parents[2])
    assert done.returncode == -9
    trace = read_trace(path)
    assert sum(stamped.event.kind == "step" for stamped in trace.events) >= 2
    assert trace.end is None


def test_seed_and_joint_actions_give_the_frames_back(recorded):
    path, _ = recorded
    world = Corridor(2)
    cells = [list(world.cells) for _ in replay(read_trace(path), world)]
    assert cells == [[0, 0], [1, 1], [2, 2], [3, 3]]


def test_replay_notices_another_world(recorded):
    path, _ = recorded
    with pytest.raises(ReplayMismatch, match="board"):
        list(replay(read_trace(path), Corridor(2, length=4)))
    path.write_bytes(path.read_bytes().replace(b'"joint":[1,1]', b'"joint":[1,0]', 1))
    with pytest.raises(ReplayMismatch, match="step 0: reward"):
        list(replay(read_trace(path), Corridor(2)))
