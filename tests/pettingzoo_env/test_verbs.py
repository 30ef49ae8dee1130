"""What page, film and blame say of a run whose environment has no goals."""

from __future__ import annotations

from pathlib import Path

from quorum.view.viewer.episode import read_episode
from tests.conftest import Quorum


def played(quorum: Quorum, folder: Path, *words: str) -> str:
    done = quorum("run", "env=pettingzoo", "n=2", "agents=naive", "topology=individual", "--quiet", *words)
    assert done.returncode == 0, done.stderr
    [run] = (folder / "runs").iterdir()
    return str(run)


def test_page_and_film_name_the_environment(quorum: Quorum, tmp_path: Path) -> None:
    run = played(quorum, tmp_path, "env.id=zoo_games", "max_steps=3")
    assert read_episode(Path(run)).overview["facts"]["world"] == "zoo_games"
    assert "zoo_games · 2 agents" in quorum("replay", run, "--plugin", "zoo_games").stdout


def test_blame_of_what_was_cut_off_without_goals_asks_for_a_bound_before_it_plays(
    quorum: Quorum, tmp_path: Path
) -> None:
    run = played(quorum, tmp_path, "env.id=zoo_games", "max_steps=3")
    before = sorted(path.name for path in tmp_path.rglob("*"))
    done = quorum("blame", run, "--reference", "random", "--plugin", "zoo_games")
    assert done.returncode == 2
    assert "its world has no goals" in done.stderr
    assert "--success 'score>=X'" in done.stderr
    assert sorted(path.name for path in tmp_path.rglob("*")) == before


def test_blame_goes_on_where_the_description_says_that_an_ended_episode_has_failed(
    quorum: Quorum, tmp_path: Path
) -> None:
    run = played(quorum, tmp_path, "env.id=zoo_games:Nim", "env.kwargs={sticks: 2}", "env.description={success: 9}")
    done = quorum("blame", run, "--reference", "random", "--plugin", "zoo_games", "--no-shares")
    assert done.returncode == 0, done.stderr
    assert "failure after" in done.stdout
