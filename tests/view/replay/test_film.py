from __future__ import annotations

import sys
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from quorum.runs.recorded_episode import open_episode
from quorum.storage.outputs import Output
from quorum.view.replay.command import run_replay
from quorum.view.replay.film import FilmFile, check_target, make_film
from quorum.view.replay.frame_painter import FramePainter
from quorum.view.replay.replay import drawable, prepare_replay
from quorum_base.painting.text import clipped, font, two_lines
from quorum_base.user_errors import UserError
from tests.view.replay.conftest import CELLS, edit_trace


def _film(folders, file, width: int | None = None, fps: float = 8, last: int | None = None) -> FilmFile:
    shown = prepare_replay([open_episode(folder) for folder in folders], 0, last)
    output = Output(file, "--out", force=True)
    return make_film(shown, output, check_target(output, width), fps=fps, width=width, console=None)


@pytest.mark.parametrize("name", CELLS)
def test_a_film_of_every_world_has_a_frame_a_step(played, name, tmp_path) -> None:
    run = played(name)
    film = _film([run.folder], tmp_path / "film.gif")
    with Image.open(film.file) as gif:
        assert gif.n_frames == film.frames == len(run.drawings)
        assert gif.size == film.size
        assert 480 <= gif.width <= 1000
        assert gif.info["duration"] == 120
        assert gif.info["loop"] == 0
    assert film.file.stat().st_size == film.bytes < 300_000


def test_a_film_is_the_same_bytes_each_time(played, tmp_path) -> None:
    one, other = (_film([played("debate").folder], tmp_path / name).file for name in ("a.gif", "b.gif"))
    assert one.read_bytes() == other.read_bytes()


@pytest.mark.parametrize("width", [160, 301, 640])
def test_a_film_is_as_wide_as_it_is_asked_to_be(played, width, tmp_path) -> None:
    film = _film([played("debate").folder], tmp_path / "film.gif", width, last=1)
    assert film.size[0] == width + width % 2  # H.264 takes even edges only


def test_a_film_too_narrow_for_its_boards_is_refused_with_the_width_that_will_do(played, tmp_path) -> None:
    folder = played("crafter").folder
    with pytest.raises(UserError, match="too narrow for 2 boards of 64 cells\nAt least 166"):
        _film([folder, folder], tmp_path / "film.gif", 160)
    assert _film([folder, folder], tmp_path / "film.gif", 166, last=0).size[0] == 166


def test_what_is_on_the_pages_is_in_the_film(played, tmp_path) -> None:
    run = open_episode(played("debate").folder)
    shown = prepare_replay([run], 2, 4)
    canvas, draw = drawable(run)
    page = FramePainter(shown, canvas, None)
    pages = [page.paint(frames) for frames in shown.frames(draw)]
    file = tmp_path / "film.gif"
    output = Output(file, "--out")
    make_film(shown, output, check_target(output, None), fps=8, width=None, console=None)
    with Image.open(file) as gif:
        for number, expected in enumerate(pages):
            gif.seek(number)
            off = np.abs(np.asarray(gif.convert("RGB"), dtype=int) - np.asarray(expected, dtype=int))
            assert off.mean() < 0.5
            assert off.max() < 80  # an edge is smoothed with the colours that a GIF has room for


def test_two_runs_stand_side_by_side(played, tmp_path) -> None:
    folders = [played(name).folder for name in ("debate", "centralized")]
    one = _film(folders[:1], tmp_path / "one.gif")
    both = _film(folders, tmp_path / "both.gif")
    assert both.frames == one.frames
    assert 1.9 * one.size[0] < both.size[0] < 2 * one.size[0]
    assert both.size[1] == one.size[1]


def test_a_simulated_model_is_named_on_every_page(played) -> None:
    def ink_in_warning(name: str) -> int:
        run = open_episode(played(name).folder)
        canvas, draw = drawable(run)
        page = FramePainter(prepare_replay([run], 0, 0), canvas, None)
        pixels = np.asarray(page.paint(next(prepare_replay([run], 0, 0).frames(draw))))
        return int(np.all(pixels[:30] == (176, 66, 0), axis=2).sum())

    assert ink_in_warning("debate") > 100
    assert ink_in_warning("transport") == 0


def test_hostile_words_stay_within_their_line(copied, tmp_path) -> None:
    folder = copied("debate")
    towering = "Z" + "\u0300" * 200 + "\u202e" + "א" * 50 + "漢" * 1_000_000
    before = _film([folder], tmp_path / "before.gif", last=2)
    edit_trace(folder, lambda event: event | {"content": towering} if event["event"] == "message_sent" else event)
    after = _film([folder], tmp_path / "after.gif", last=2)
    assert after.size == before.size
    with Image.open(before.file) as a, Image.open(after.file) as b:
        changed = np.any(np.asarray(a.convert("RGB")) != np.asarray(b.convert("RGB")), axis=2)
        assert changed.any()
        assert not changed[: before.size[1] - 52].any()  # nothing but the two lines of the message


def test_a_text_is_cut_to_its_room() -> None:
    face = font(13)
    text = "wide words that go on and on, far beyond the edge of a film, until nobody reads them"
    assert clipped(text, 10_000, face) == text
    short = clipped(text, 200, face)
    assert short.endswith("…")
    assert face.getlength(short) <= 200 < face.getlength(text[: len(short) + 1] + "…")
    first, second = two_lines(text, 300, face)
    assert text.startswith(first + " " + second.rstrip("…"))
    assert max(face.getlength(first), face.getlength(second)) <= 300


@pytest.mark.parametrize(("fps", "seconds"), [(8, 3.5), (0.5, 10.0)])
def test_an_mp4_plays_every_step(played, tmp_path, fps, seconds) -> None:
    av = pytest.importorskip("av", reason="pip install 'quorum-harness[video]'")
    folder = played("transport").folder
    steps = open_episode(folder).steps
    film = _film([folder], tmp_path / "film.mp4", fps=fps)
    with av.open(str(film.file)) as file:
        stream = file.streams.video[0]
        frames = [frame.to_ndarray(format="rgb24") for frame in file.decode(stream)]
        assert stream.codec_context.name == "h264"
        assert (stream.width, stream.height) == film.size
        assert float(stream.average_rate) == fps
    assert len(frames) == steps + round(max(2, 1 / fps) * fps)  # the last one is held
    run = open_episode(folder)
    canvas, draw = drawable(run)
    shown = prepare_replay([run], 0, None)
    page = FramePainter(shown, canvas, None)
    for frame, expected in zip(frames, (page.paint(pair) for pair in shown.frames(draw)), strict=False):
        assert np.abs(frame.astype(int) - np.asarray(expected, dtype=int)).mean() < 6


def test_a_missing_extra_is_named_with_its_install_line(played, tmp_path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "av", None)
    with pytest.raises(UserError, match=r"pip install 'quorum-harness\[video\]'"):
        check_target(Output(tmp_path / "film.mp4", "--out"), None)
    assert not list(tmp_path.iterdir())


def test_a_film_that_fails_half_way_leaves_what_was_there(copied, tmp_path) -> None:
    folder = copied("transport")
    edit_trace(folder, lambda e: e | {"reward": 99.0} if e["event"] == "step" and e["t"] == 3 else e)
    file = tmp_path / "film.gif"
    file.write_bytes(b"old")
    with pytest.raises(UserError, match="cannot be restored"):
        _film([folder], file)
    assert file.read_bytes() == b"old"
    assert {path.name for path in tmp_path.iterdir()} == {"film.gif", "transport"}


def test_a_film_tells_a_trace_that_breaks_off(copied, tmp_path) -> None:
    folder = copied("debate")
    trace = folder / "trace.jsonl"
    trace.write_bytes(trace.read_bytes()[: trace.stat().st_size // 2])
    output = Output(tmp_path / "f.gif", "--out")
    reported = run_replay([folder], output, None, fps=8, first=0, last=None, width=None, quiet=True)
    assert len(reported) == 1
    assert "breaks off" in reported[0]
    assert Image.open(BytesIO((tmp_path / "f.gif").read_bytes())).n_frames == open_episode(folder).steps + 1
