"""The command as a user types it."""

from __future__ import annotations

import pytest

from tests.conftest import CORRIDOR


@pytest.fixture
def run(played, tmp_path):
    (tmp_path / "run").symlink_to(played("debate").folder)
    return "run"


def test_a_film_is_written_and_reported(quorum, run, tmp_path) -> None:
    done = quorum("replay", run, "--out", "film.gif", "--to", "3", "--width", "300")
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert "film: film.gif (4 frames, 300 x " in done.stderr
    assert (tmp_path / "film.gif").read_bytes().startswith(b"GIF89a")


def test_without_a_terminal_it_is_text(quorum, run) -> None:
    done = quorum("replay", run, "--from", "2", "--to", "3", "--speed", "1")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("step 2 of") == done.stdout.count("step 3 of") == 1
    assert "\x1b" not in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere"], "nowhere: there is no such folder"),
        (["run/trace.jsonl"], "it is a file"),
        (["empty"], "empty: it is not a run"),
        (["sweep"], "It contains runs: give one of them, sweep/cell"),
        (["run", "--out", "film.avi"], "'.avi' is not an ending of a film"),
        (["run", "--out", "film"], "the name of a film needs an ending"),
        (["run", "--out", "empty"], "--out empty: it is a folder"),
        (["run", "--out", "not/there.gif"], "there is no folder not"),
        (["run", "--from", "99", "--out", "f.gif"], "--from 99: run ends with step"),
        (["run", "--from", "5", "--to", "2"], "--to 2: it is before --from 5"),
        (["run", "--fps", "0"], "--fps 0"),
        (["run", "--fps", "nan"], "--fps nan"),
        (["run", "--speed", "51"], "at most 50"),
        (["run", "--width", "300"], "--width sets the width of a film"),
        (["run", "--width", "3", "--out", "f.gif"], "--width 3: a film is 160 to 4096 pixels wide"),
        (["run", "--quiet"], "--quiet would hide"),
        (["run", "--from", "-1"], "--from"),
        (["run", "--plugin", "no_such_module"], "--plugin no_such_module"),
    ],
)
def test_a_mistake_is_one_message_and_nothing_is_left(quorum, run, tmp_path, arguments, said) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "sweep").mkdir()
    (tmp_path / "sweep" / "cell").symlink_to((tmp_path / "run").resolve())
    before = sorted(path.name for path in tmp_path.iterdir())
    done = quorum("replay", *arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_a_world_that_cannot_be_drawn_is_shown_as_text_and_is_no_film(quorum, tmp_path) -> None:
    dark = [word for word in CORRIDOR if not word.startswith("env=")]
    assert quorum("run", *dark, "env=dark", "n=2", "--out", "runs").returncode == 0
    folder = f"runs/{next((tmp_path / 'runs').iterdir()).name}"
    assert "its world cannot be built" in quorum("replay", folder).stderr
    shown = quorum("replay", folder, "--plugin", "walker")
    assert shown.returncode == 0, shown.stderr
    assert "step 0 of" in shown.stdout
    film = quorum("replay", folder, "--plugin", "walker", "--out", "f.gif")
    assert film.returncode == 2
    assert "cannot be drawn" in film.stderr
