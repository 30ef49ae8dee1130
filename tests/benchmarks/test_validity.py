"""Planted teams: their effects are those of the table, their arms those of the study, and the figures are true."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest

from benchmarks.validity import credit, studies, teams
from benchmarks.validity.credit import Ranked
from benchmarks.validity.independent import exact_p, scipy_p
from benchmarks.validity.planted import Cause
from benchmarks.validity.studies import ANY, BOARDS, Row, judged, measure, pools
from benchmarks.validity.teams import ARMS, EFFECTS, SKILL, TEAMS, WORLDS, Arms, Played, expected
from maeil.metrics import METRICS
from quorum.comparison.statistics.flips import sign_flip_test
from quorum.configuration.cell import Cell
from quorum.episode.building import no_models
from quorum.episode.parts import build
from quorum.study.control.arms import ControlConfig
from quorum.study.question import load_question
from quorum.study.study import Study
from tests.conftest import ROOT

FEW = 6
"""Boards on which tests play a team."""
CAUSES = {
    "silent": {Cause.NOTHING},
    "mute": {Cause.NOTHING, Cause.TURN},
    "null": {Cause.NOTHING, Cause.TURN, Cause.MESSAGE},
    "own": {Cause.NOTHING, Cause.TURN, Cause.MESSAGE, Cause.WORDS},
    "shuffled": {Cause.NOTHING, Cause.TURN, Cause.MESSAGE, Cause.WORDS},
    "truth": {Cause.NOTHING, Cause.TURN, Cause.MESSAGE, Cause.WORDS},
    "treatment": set(Cause),
}
"""What an agent meets in each arm."""


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with TemporaryDirectory() as made:
        yield Path(made)


@pytest.fixture(scope="module")
def arms(folder: Path) -> Any:
    """Return a function that makes the arms of a team, once."""

    @cache
    def made(world: str, team: str) -> Arms:
        own = folder / f"{world}-{team}"
        own.mkdir()
        return Arms.of(world, team, own)

    return made


def test_the_expected_signs_follow_from_what_an_agent_meets_in_each_arm() -> None:
    effects = {file.name: file for file in load_question("talk").effects}
    for team, planted in TEAMS.items():
        direction = np.sign(planted.skill - SKILL)
        for effect, sign in expected(team).items():
            plus, minus = (planted.cause in CAUSES[arm] for arm in (effects[effect].plus, effects[effect].minus))
            assert sign == direction * (int(plus) - int(minus)), (team, effect)


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("team", TEAMS)
def test_arms_between_which_there_is_no_effect_play_the_same_with_equal_draws(arms: Any, world: str, team: str) -> None:
    """So the effect is exactly none on each board, and with its own draws, an arm differs by chance alone."""
    made = arms(world, team)
    for board in range(FEW // 2):
        found = {arm: made.score(arm, board, draw=0) for arm in CAUSES}
        without = {score for arm, score in found.items() if TEAMS[team].cause not in CAUSES[arm]}
        met = {found[arm] for arm in CAUSES if TEAMS[team].cause in CAUSES[arm] and arm != "own"}
        assert len(without) <= 1, found
        assert len(met) == 1, found  # with `own`, an agent that has said nothing reads no words yet


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("team", ["help", "harm", "turns", "waking", "words"])
def test_effects_have_their_signs_on_a_few_boards(arms: Any, world: str, team: str) -> None:
    made = arms(world, team)
    lower = METRICS[made.metric].better == "lower"
    scores = {arm: sum(made.score(arm, board, draw=0) for board in range(FEW)) for arm in ARMS}
    for effect, sign in expected(team).items():
        change = scores[studies.FILES[effect].plus] - scores[studies.FILES[effect].minus]
        assert np.sign(-change if lower else change) == sign, (effect, scores)


def test_each_arm_has_draws_of_its_own(arms: Any) -> None:
    """The team without effects differs between any two arms, also from itself in other draws."""
    made = arms("CUBE", "none")
    rows = {tuple(made.score(arm, board) for board in range(FEW)) for arm in ARMS}
    assert len(rows) == len(ARMS)


def test_no_two_teams_share_a_board(arms: Any) -> None:
    first = [arms("CUBE", team).cells["silent"].seed for team in ("none", "words")]
    assert abs(first[0] - first[1]) >= 10_000  # of which a thousand are played


@pytest.mark.parametrize("world", WORLDS)
def test_the_arms_are_those_of_the_command(arms: Any, world: str, folder: Path) -> None:
    """All that plays: the cells have the names that `quorum study talk` gives them, except where other messages are."""
    of_command = Study.of(teams.study_of(world, "help", folder).request, with_keys=False)
    made: dict[str, Cell] = arms(world, "help").cells
    there = {name: arm for name, arm in of_command.arms.items() if name in ARMS}
    assert tuple(made) == ARMS
    assert made.keys() == there.keys()
    seed = made["silent"].seed
    names = {one.arm: one.name for one in teams.planned({n: a for n, a in there.items() if not a.donors}, [seed])}
    assert {name: made[name].name for name in names} == names
    for name in ("mute", "null", "own", "shuffled", "truth"):
        control = made[name].configuration.extension["control"]
        assert isinstance(control, ControlConfig)
        assert control.arm == name


def scores(shift: float, boards: int = 200) -> np.ndarray:
    """Return normal scores; the arms with content have a shift."""
    random = np.random.default_rng(7)
    return random.normal(0, 1, (len(ARMS), boards)) + shift * np.isin(ARMS, ("treatment", "again"))[:, None]


@pytest.mark.parametrize(("team", "shift", "power"), [("help", 6.0, 1.0), ("harm", -6.0, 1.0), ("help", -6.0, 0.0)])
def test_power_counts_findings_with_the_right_sign(tmp_path: Path, team: str, shift: float, power: float) -> None:
    Played(scores(shift), "outcome.score", 0.0).write(tmp_path, "foraging", team)
    rows = {row.effect: row for row in measure(tmp_path, 20, ("foraging", team, 20))}
    for effect, sign in expected(team).items():
        if sign:
            assert rows[effect].found == power, effect
            assert rows[effect].called == 1
            assert rows[effect].better == (rows[effect].worse == 0)


def test_fewer_steps_are_better(tmp_path: Path) -> None:
    Played(scores(-6.0), "outcome.steps_or_limit", 0.0).write(tmp_path, "CUBE", "help")
    rows = {row.effect: row for row in measure(tmp_path, 20, ("CUBE", "help", 20))}
    assert rows["content"].found == 1
    assert rows["truth instead"].worse == 1


def test_a_family_counts_a_study_once_and_leaves_the_first_effect_out(tmp_path: Path) -> None:
    """In a team without effects, all arms with content differ: the effects that this is not about stay uncalled."""
    Played(scores(6.0), "outcome.score", 0.0).write(tmp_path, "foraging", "none")
    rows = {row.effect: row for row in measure(tmp_path, 20, ("foraging", "none", 20))}
    assert rows["total"].called == rows["content"].called == rows["truth instead"].called == rows[ANY].called == 1
    assert rows["total"].too_often
    assert rows["turns"].called < 1


def test_blocks_of_boards_are_read_in_order_up_to_the_first_that_is_missing(tmp_path: Path) -> None:
    for block in (0, 1, 3):
        Played(np.full((len(ARMS), 2), float(block)), "outcome.score", 1.0).write(
            tmp_path, "open world", "weak help", block
        )
    found = Played.read(tmp_path, "open world", "weak help")
    assert found.scores[0].tolist() == [0, 0, 1, 1]
    assert found.seconds == 2


def test_pools_are_disjoint_and_a_study_has_no_board_twice() -> None:
    boards = np.tile(np.arange(101.0), (len(ARMS), 1))
    parts = pools(Played(boards, "outcome.score", 0.0))
    assert sorted(np.concatenate([part[0] for part in parts])) == list(range(101))
    for part in parts:
        for study in studies.draw(part, 12, 5, 0):
            assert len(set(study[0])) == 12
            assert (study == study[0]).all()  # all arms on the same boards


def test_p_values_are_those_of_code_without_the_products_statistics() -> None:
    random = np.random.default_rng(1)
    for boards in (6, 9, 12):
        for draw in (random.normal(0.5, 1, boards), random.integers(-1, 2, boards).astype(float), np.zeros(boards)):
            p = exact_p(draw)
            assert sign_flip_test(draw) == pytest.approx(p)
            assert scipy_p(draw) == pytest.approx(p)
            sums = (abs(np.dot(draw, signs)) for signs in product((-1, 1), repeat=boards))
            assert p == pytest.approx(np.mean([size >= abs(draw.sum()) - 1e-9 for size in sums]))


def test_the_judge_is_the_studys() -> None:
    effects = [effect.file.name for effect in judged(scores(6.0, 12), "outcome.score").effects]
    assert tuple(effects) == EFFECTS


@pytest.mark.parametrize(
    ("worths", "plant", "place", "some"),
    [
        ([1.0, 2.0, 3.0, 4.0], "useless", 1.0, True),
        ([1.0, 2.0, 3.0, 4.0], "decisive", 0.0, True),
        ([4.0, 2.0, 3.0, 4.0], "decisive", 0.5, True),
        ([0.0, 0.0, 0.0, 0.0], "useless", 0.25, False),
    ],
)
def test_agents_that_share_a_place_share_the_run(
    worths: list[float],
    plant: str,
    place: float,
    some: bool,
) -> None:
    assert Ranked.of(worths, 0, plant) == Ranked(place, some)


def test_the_planted_agent_alone_has_the_other_skill() -> None:
    """On a board on which it does all the work, both credits rank it first."""
    assert credit.measure(("CUBE", "decisive", 0)) == dict.fromkeys(credit.COLUMNS, Ranked(1.0, some=True))
    cell = Cell.compose(["env=cube", "n=2", "agents=planted", "agents.odd=1", "agents.odd_skill=1.0"], teams.CONFIGS)
    parts = build(cell, no_models)
    assert [(mind._skill, mind._skill_then) for mind in parts.minds] == [(SKILL, SKILL), (1.0, 1.0)]  # type: ignore[attr-defined]


def test_the_recorded_table_is_of_these_teams() -> None:
    """A change of the teams, worlds or expectations makes the files of the guide stale: measure them again."""
    lines = (ROOT / "docs/validity/studies.csv").read_text(encoding="utf-8").splitlines()
    rows = list(csv.DictReader(lines[1:]))
    assert rows[0].keys() == set(Row.__dataclass_fields__)
    found = {(row["world"], row["team"], int(row["boards"]), row["effect"]): int(row["expected"]) for row in rows}
    wanted = {
        (world, team, boards, effect): sign
        for world, team, boards in product(WORLDS, TEAMS, BOARDS)
        for effect, sign in {**expected(team), ANY: 0}.items()
    }
    assert found == wanted
    page = (ROOT / "docs/validity/studies.md").read_text(encoding="utf-8")
    for small in WORLDS.values():
        assert f"`{small.words}`" in page
    assert all(int(row["studies"]) >= 400 for row in rows)
