"""The result of the README is what the recorded sweep of the two students holds."""

from __future__ import annotations

import csv
import json
import re
import zipfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

import numpy as np
import pytest

from quorum.comparison.statistics.flips import sign_flip_interval
from quorum.configuration.cell import Cell
from quorum.episode.runner import run_cell
from quorum.runs import read_results
from quorum.runs.archives import unpacked
from quorum.study.reproduce.verdicts import judge_order, paired_difference
from tests.conftest import EXAMPLES, ROOT
from tests.examples.places import PLACE

SWEEP = EXAMPLES / "students.zip"
STUDENTS = EXAMPLES / "train" / "students"
README = (ROOT / "README.md").read_text("utf-8")
MODELS = {"LISTENER": "listener", "DEAF": "deaf", "untrained": "smollm2-135m-instruct.q4_1"}
WORDS = " ".join(README.split())
ARMS = {
    "LISTENER": "listener", "DEAF": "deaf", "their teacher": "teacher", "echo": "echo", "chance": "chance",
}  # fmt: skip
TOPOLOGIES = ("individual", "debate", "centralized", "decentralized")
ROWS = re.findall(rf"^\| ({'|'.join(ARMS)})\b[^|]*((?:\| [\d.]+ )+)\|$", README, re.MULTILINE)


def test_nothing_in_the_archive_names_a_place_of_the_machine_that_made_it() -> None:
    with zipfile.ZipFile(SWEEP) as packed:
        assert sum(member.file_size for member in packed.infolist()) < 100_000_000
        for member in packed.namelist():
            assert not PLACE.search(packed.read(member).decode()), member


@pytest.mark.claims
def test_the_table_and_the_differences_of_the_readme_are_those_of_the_recorded_sweep() -> None:
    with unpacked([SWEEP]) as (folder,):
        results = read_results(folder)
    cleared: defaultdict[tuple[str | None, object], list[float]] = defaultdict(list)
    steps: defaultdict[tuple[str | None, object], list[float]] = defaultdict(list)
    for row in results.rows:
        key = row.arm, row.factors["topology.name"]
        cleared[key].append(row.metrics["outcome.success"] or 0.0)
        steps[key].append(row.metrics["outcome.steps"] or 0.0)
    assert {len(values) for values in cleared.values()} == {20}
    assert [name for name, _ in ROWS] == [*ARMS]
    for name, figures in ROWS:
        *boards, mean = (float(figure) for figure in figures.split("|")[1:])
        assert boards == [sum(cleared[ARMS[name], topology]) for topology in TOPOLOGIES], name
        assert mean == round(fmean(steps[ARMS[name], "debate"]), 1), name
    for arm, unit in (("teacher", " steps"), ("listener", ""), ("deaf", "")):
        of_topologies = [np.subtract(steps[arm, name], steps["echo", name]) for name in TOPOLOGIES]
        more = np.mean(of_topologies, axis=0)
        low, high = sign_flip_interval(more)
        assert f"{more.mean():.1f}{unit} [{low:.1f}, {high:.1f}]" in WORDS, arm


def test_the_echo_plays_as_recorded(tmp_path: Path) -> None:
    """Four agents, whose episodes are a file of figures."""
    with (STUDENTS / "n4.csv").open(encoding="utf-8", newline="") as file:
        rows = {(row["arm"], row["topology"], row["board"]): float(row["steps"]) for row in csv.DictReader(file)}
    words = (
        "n=4",
        "agents=naive",
        "llm=echo",
        "prompts=terse",
        "topology=debate",
        "max_steps=100",
        "memory.messages=4",
    )
    for seed in range(3):
        again = run_cell(Cell.compose([*words, f"seed={seed}"]), tmp_path)
        assert again.metrics["outcome.steps"] == rows["echo", "debate", str(seed)]


def test_the_effects_of_messages_are_those_of_the_studies() -> None:
    studies = [STUDENTS / f"{name}.study.json" for name in ("listener", "deaf")]
    effects = [json.loads(file.read_text("utf-8"))["effects"] for file in studies]
    page = (STUDENTS / "README.md").read_text("utf-8")
    shown = dict(re.findall(r"^\| `(\w+)`: [^|]* \| (.+ \| .+) \|$", page, re.MULTILINE))
    for effect in ("turns", "envelope", "content", "own", "shuffled", "truth"):
        found = [one[effect]["difference"] for one in effects]
        cells = [f"{one['value']:+.1f} [{one['low']:.1f}, {one['high']:.1f}]" for one in found]
        assert shown[effect] == " | ".join(cells), effect
    for effect, words in (
        ("truth", "save LISTENER {} steps {}"),
        ("content", "its own team {} {}"),
        ("shuffled", "none ({} {})"),
    ):
        saved = effects[0][effect]["difference"]
        low, high = -saved["high"], -saved["low"]
        assert words.format(f"{-saved['value']:.1f}", f"[{low:.1f}, {high:.1f}]") in WORDS, effect


def test_the_difference_between_the_students_is_that_of_their_boards() -> None:
    with (STUDENTS / "boards.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    steps = {(row["student"], row["arm"], row["board"]): float(row["steps_or_limit"]) for row in rows}
    boards = sorted({board for *_, board in steps})
    assert len(boards) == 20

    def saved(student: str) -> list[float]:
        return [steps[student, "null", board] - steps[student, "truth", board] for board in boards]

    for student in ("listener", "deaf"):
        study = json.loads((STUDENTS / f"{student}.study.json").read_text("utf-8"))
        assert -fmean(saved(student)) == pytest.approx(study["effects"]["truth"]["difference"]["value"])
    with unpacked([SWEEP]) as (folder,):
        echoes = [
            row for row in read_results(folder).rows if (row.arm, row.factors["topology.name"]) == ("echo", "debate")
        ]
    copied = {str(row.seed): row.metrics["outcome.steps"] or 0.0 for row in echoes}
    found = []
    for student in ("listener", "deaf"):
        faster = np.array([steps[student, "truth", board] - copied[board] for board in boards])
        low, high = sign_flip_interval(faster)
        found.append(f"{faster.mean():.1f} [{low:.1f}, {high:.1f}]")
    assert f"faster than the echo ({found[0]}; DEAF {found[1]})" in WORDS
    more = np.subtract(saved("listener"), saved("deaf"))
    low, high = sign_flip_interval(more)
    assert f"{more.mean():.1f} steps [{low:.1f}, {high:.1f}] more than they save" in WORDS


def figures(name: str) -> list[dict[str, str]]:
    with (STUDENTS / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize(
    ("file", "heading", "teams", "boards"),
    [
        ("n4.csv", "With four agents", ("LISTENER", "DEAF", "teacher", "echo", "chance"), 10),
        ("third.csv", "## A third student", ("third", "control"), 20),
    ],
)
def test_the_table_of_cleared_boards_is_that_of_the_episodes(
    file: str, heading: str, teams: Sequence[str], boards: int
) -> None:
    rows, page = figures(file), (STUDENTS / "README.md").read_text("utf-8")
    shown = page[page.index(heading) :]
    for team in teams:
        cells = []
        for topology in TOPOLOGIES:
            of_team = [row for row in rows if (row["arm"], row["topology"]) == (team.lower(), topology)]
            assert [int(row["board"]) for row in of_team] == [*range(boards)]
            cleared, steps = (fmean(float(row[name]) for row in of_team) for name in ("success", "steps"))
            cells.append(f"{boards * cleared:.0f}, {f'{steps:.1f}' if steps < 100 else 100}")
        assert f"| {team} | {' | '.join(cells)} |" in shown, team


def test_the_differences_of_the_third_student_are_those_of_the_episodes() -> None:
    steps = {(row["arm"], row["topology"], int(row["board"])): float(row["steps"]) for row in figures("third.csv")}
    with unpacked([SWEEP]) as (folder,):
        for row in read_results(folder).rows:
            key = str(row.arm), str(row.factors["topology.name"]), row.seed
            steps[key] = row.metrics["outcome.steps"] or 0.0

    def mean_steps(arm: str) -> list[float]:
        return [fmean(steps[arm, name, board] for name in TOPOLOGIES) for board in range(20)]

    page = " ".join((STUDENTS / "README.md").read_text("utf-8").split())
    for one, other in (("third", "control"), ("third", "listener"), ("control", "listener"), ("third", "echo")):
        more = np.subtract(mean_steps(one), mean_steps(other))
        low, high = sign_flip_interval(more)
        assert f"{one} - {other}: {more.mean():+.1f} [{low:.1f}, {high:.1f}]" in page

    def equal(one: str, other: str) -> int:
        return sum(steps[one, name, board] == steps[other, name, board] for name in TOPOLOGIES for board in range(20))

    third, control = equal("third", "listener"), equal("control", "listener")
    assert f"{third} of the third student's and {control} of the control's take exactly the steps of LISTENER" in page
    assert f"and {equal('third', 'control')} are equal between the two" in page


def test_the_figures_of_the_cube_page_are_those_of_the_episodes() -> None:
    rows, page = figures("cube_page.csv"), (STUDENTS / "README.md").read_text("utf-8")
    shown = page[page.index("## In published figures") :]
    steps = {(row["team"], row["n"], int(row["board"])): float(row["steps"]) for row in rows}
    sizes = ("2", "4", "8")
    for team in ("LISTENER", "heuristic", "echo", "chance"):
        cells = []
        for n in sizes:
            of_team = [row for row in rows if (row["team"], row["n"]) == (team.lower(), n)]
            assert [int(row["board"]) for row in of_team] == [*range(6)]
            cells.append(
                f"{sum(row['success'] == '1' for row in of_team)}, {fmean(float(row['steps']) for row in of_team):.1f}"
            )
        assert f"| {team} | {' | '.join(cells)} |" in shown, team
    for other in ("heuristic", "echo"):
        found = []
        for n in sizes:
            more = np.array([steps["listener", n, board] - steps[other, n, board] for board in range(6)])
            low, high = sign_flip_interval(more)
            found.append(f"{more.mean():.1f} [{low:.1f}, {high:.1f}]")
        assert f"- listener - {other}: {', '.join(found)}" in shown


@pytest.mark.parametrize(
    ("team", "words"),
    [
        ("heuristic", ("agents=heuristic", "agents.teams=one")),
        ("echo", ("agents=naive", "agents.max_actions=6", "llm=echo", "prompts=terse", "memory.messages=4")),
    ],
)
def test_the_teams_of_the_cube_page_play_as_recorded(tmp_path: Path, team: str, words: Sequence[str]) -> None:
    recorded = {(row["team"], row["n"], row["board"]): float(row["steps"]) for row in figures("cube_page.csv")}
    for n, board in (("2", "5"), ("4", "0"), ("8", "5")):
        cell = ("topology=individual", "max_steps=200", f"n={n}", f"seed={board}", *words)
        assert run_cell(Cell.compose(cell), tmp_path).metrics["outcome.steps"] == recorded[team, n, board]


def test_the_table_of_the_open_world_is_that_of_the_episodes() -> None:
    page = (STUDENTS / "README.md").read_text("utf-8")
    rows = [row for row in figures("open_world.csv") if row["team"] == "listener"]
    for topology in (*TOPOLOGIES, "centralized_feedback"):
        of_team = [row for row in rows if row["topology"] == topology]
        assert [int(row["board"]) for row in of_team] == [*range(6)]
        columns = (("score", 1), ("messages", 1), ("overhead", 2), ("coherence", 2), ("stability", 2))
        cells = [f"{fmean(float(row[name]) for row in of_team):.{digits}f}" for name, digits in columns]
        assert f"| LISTENER, {topology.replace('_', ' with ')} | {' | '.join(cells)} |" in page, topology
    assert len(rows) == 30
    assert all(float(row["score"]) == 0 for row in rows)


@pytest.mark.parametrize("team", ["listener", "chance"])
def test_the_two_orders_hold_for_the_student_and_for_random_answers(team: str) -> None:
    rows = {(row["topology"], int(row["board"])): row for row in figures("open_world.csv") if row["team"] == team}

    def above(metric: str, more: str, less: str) -> float:
        return sign_flip_interval(
            np.array([float(rows[more, board][metric]) - float(rows[less, board][metric]) for board in range(6)])
        )[0]

    assert above("overhead", "debate", "individual") > 0
    assert above("stability", "individual", "decentralized") > 0


BY_WORDS = [(words, team) for words in ("emcoop", "cube") for team in ("listener", "echo", "chance")]
MARGIN = 0.05
"""Of the violations: that of the figure `emcoop-rq2`."""


@pytest.mark.parametrize(("words", "team"), BY_WORDS)
def test_the_verdicts_on_constraints_are_those_of_the_episodes(words: str, team: str) -> None:
    rows = [row for row in figures("constraints.csv") if (row["words"], row["team"]) == (words, team)]
    assert len({(row["level"], row["topology"], row["board"]) for row in rows}) == len(rows) == 24
    cells = [f"{fmean(float(row['attempts']) for row in rows):.1f}"]
    for metric in ("participation", "spatial", "temporal"):
        value = {
            (row["level"], row["topology"], int(row["board"])): float(row[metric]) for row in rows if row[metric] != ""
        }
        harder: defaultdict[int, list[float]] = defaultdict(list)
        for level, topology, board in value:
            if level == "easy" and ("hard", topology, board) in value:
                harder[board].append(value["hard", topology, board] - value["easy", topology, board])
        found = paired_difference(np.array([fmean(values) for values in harder.values()]), rate=True)
        verdict = judge_order(1, found, MARGIN).verdict
        interval = f"{found.value:+.2f} [{found.low:.2f}, {found.high:.2f}], " if found.boards else ""
        cells.append(f"{interval}{verdict}")
    shown = {"emcoop": "EmCoop's", "cube": "CUBE's"}[words], {"listener": "LISTENER"}.get(team, team)
    assert f"| {' | '.join([*shown, *cells])} |" in (STUDENTS / "README.md").read_text("utf-8")


@pytest.mark.parametrize(("words", "team"), [one for one in BY_WORDS if one[1] != "listener"])
def test_the_floors_of_the_constraints_play_as_recorded(words: str, team: str, tmp_path: Path) -> None:
    llm = {"echo": "llm=echo", "chance": "llm=random"}[team]
    world = ("env=cube_coop2", f"env.vocabulary={words}", "env.level=hard", "n=3", "agents=naive", "memory.messages=4")
    metrics = run_cell(Cell.compose((*world, "topology=individual", "seed=5", llm)), tmp_path).metrics
    place = {"words": words, "team": team, "level": "hard", "topology": "individual", "board": "5"}
    (row,) = (row for row in figures("constraints.csv") if place.items() <= row.items())
    assert float(row["participation"]) == pytest.approx(metrics["constraints.violation_participation"], abs=1e-6)
    assert int(row["attempts"]) == metrics["constraints.attempts"]


def test_the_log_odds_in_the_guide_are_those_of_the_probe() -> None:
    page = (ROOT / "docs" / "train.md").read_text("utf-8").partition("### LISTENER, DEAF and the untrained model")[2]
    (row,) = re.findall(r"^\| `contradicting` \| (.+) \|$", page, re.MULTILINE)
    rows = json.loads((STUDENTS / "choices.json").read_text("utf-8"))["rows"]
    wanted = {row["model"]: row["effect"] for row in rows if (row["by"], row["arm"]) == ("named", "contradicting")}
    found = [wanted[model] for model in MODELS.values()]
    assert row.split(" | ") == [f"{one['value']:+.2f} [{one['low']:.2f}, {one['high']:.2f}]" for one in found]


def test_the_episodes_of_the_untrained_model_are_as_many_as_the_page_says() -> None:
    with (STUDENTS / "untrained.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    page = " ".join((STUDENTS / "README.md").read_text("utf-8").split())
    assert f"it cleared {sum(row['success'] == '1' for row in rows)} of the {len(rows)} boards" in page
    steps = {(row["topology"], row["board"]): row["steps"] for row in rows}
    both = [board for topology, board in steps if topology == "debate" and ("individual", board) in steps]
    assert both
    assert all(steps["debate", board] == steps["individual", board] for board in both), "with equal steps in both"


TRAIN = " ".join((ROOT / "docs" / "train.md").read_text("utf-8").split())


def test_the_choices_in_the_guide_are_those_of_the_probe() -> None:
    rows = json.loads((STUDENTS / "choices.json").read_text("utf-8"))["rows"]
    effects = {(row["arm"], row["model"]): row["effect"] for row in rows if row["by"] == "named"}
    for arm in ("none", "empty", "own", "shuffled", "contradicting"):
        found = [effects[arm, model] for model in MODELS.values()]
        cells = [f"{one['value']:+.2f} [{one['low']:.2f}, {one['high']:.2f}]" for one in found]
        assert f"| `{arm}` | {' | '.join(cells)} |" in TRAIN, arm


def test_the_differences_of_choices_are_those_of_their_boards() -> None:
    with (STUDENTS / "choices.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    changes = {(row["model"], row["arm"], int(row["board"])): float(row["heard_minus_arm"]) for row in rows}

    def more(one: str, other: str) -> str:
        boards = range(20)
        found = [changes[one, "contradicting", n] - changes[other, "contradicting", n] for n in boards]
        low, high = sign_flip_interval(np.array(found))
        return f"{fmean(found):.2f} {{}}[{low:.2f}, {high:.2f}]"

    assert more("listener", "deaf").format("") in TRAIN
    assert more("untrained", "deaf").format("less ") in TRAIN


@pytest.mark.claims
def test_the_first_messages_of_the_listener_name_the_block_that_the_guide_says() -> None:
    with unpacked([SWEEP]) as (folder,):
        for team, named in (("naive-listener", 38), ("negotiator", 10)):
            runs = [*folder.glob(f"cube-n2-{team}-debate-*")]
            events = [
                json.loads(line) for run in runs for line in (run / "trace.jsonl").read_text("utf-8").splitlines()
            ]
            first = [str(event) for event in events if event["event"] == "message_sent" and event["t"] == 0]
            assert len(runs) == 20
            assert len(first) == 40
            assert sum("block_1" in text for text in first) == named, team
