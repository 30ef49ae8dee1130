"""The tables of the README and the guide are what their commands make with the present code."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

import benchmarks.figure_tables
from benchmarks import guide_tables
from benchmarks.figure_tables import GuideTable, figure_tables, figures_digest, is_of_figures, load
from benchmarks.guide_tables import measure, old_figures_in_prose, put, update
from benchmarks.table_digests import (
    Measured,
    commands_digest,
    content,
    file_content,
    group_digest,
    read_lock,
    write_lock,
)
from tests.conftest import ROOT

GUIDE = load()
MEASURED = [table for table in GUIDE.tables if table.run]


def _words(text: str) -> str:
    return " ".join(text.split())


def _listed(page: str, header: str) -> bool:
    places = (*(table.place for table in GUIDE.tables), *((one.page, one.header) for one in GUIDE.reference))
    return any(page == other and header.startswith(begin) for other, begin in places)


def test_every_table_of_figures_is_in_the_list_that_measures_it_again() -> None:
    missing = [f"{page}: {header}" for page, header in figure_tables() if not _listed(page, header)]
    assert missing == [], "add these tables to benchmarks/guide_tables.yaml"


def test_every_entry_of_the_list_has_its_table() -> None:
    tables = list(figure_tables())
    places = [*(table.place for table in GUIDE.tables), *((one.page, one.header) for one in GUIDE.reference)]
    gone = [place for place in places if not any(place[0] == p and h.startswith(place[1]) for p, h in tables)]
    assert gone == []
    assert len({table.name for table in GUIDE.tables}) == len(GUIDE.tables)
    assert read_lock().keys() <= {table.name for table in MEASURED}


def test_no_table_was_measured_before_the_last_change_of_what_it_depends_on() -> None:
    lock = read_lock()
    reasons = {table.name: GUIDE.out_of_date(table, lock.get(table.name)) for table in MEASURED}
    stale = {name: why for name, why in reasons.items() if why}
    seconds = sum(lock[name].seconds for name in stale if name in lock)
    assert not stale, "\n".join(
        [
            "Measure these tables again:",
            *(f"- {name}: {why}" for name, why in stale.items()),
            f"All of them, in about {seconds // 60 + 1} minutes:  python -m benchmarks.guide_tables --stale --write",
            "Only if no cell changes:  python -m benchmarks.guide_tables --stale --confirm",
        ]
    )


@pytest.mark.parametrize("table", [table for table in GUIDE.tables if table.once], ids=lambda table: table.name)
def test_a_table_measured_once_says_on_which_version(table: GuideTable) -> None:
    assert table.once is not None
    assert f"measured on {table.once.version}" in _words((ROOT / table.page).read_text(encoding="utf-8")).lower()


@pytest.mark.parametrize("table", MEASURED, ids=lambda table: table.name)
def test_the_commands_of_a_table_stand_on_its_page(table: GuideTable) -> None:
    """A page may leave out the name of the sweep."""
    text = _words("".join((ROOT / page).read_text(encoding="utf-8") for page in (table.page, table.files) if page))
    for command in table.run:
        shown = re.sub(r" --name \S+$", "", command)
        assert shown in text or (command.startswith("quorum reproduce ") and f"`{command.split()[-1]}`" in text), (
            command
        )


@pytest.mark.claims
@pytest.mark.parametrize("table", [table for table in MEASURED if table.cheap], ids=lambda table: table.name)
def test_a_table_is_what_its_commands_make(table: GuideTable, tmp_path: Path) -> None:
    _, changed = put(table, measure(table, tmp_path))
    assert changed == []


def test_no_two_sweeps_of_a_page_have_one_name_and_the_sweeps_of_two_pages_have_two_folders(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folders: dict[tuple[str, Path], str] = {}

    def recorded(table: GuideTable, folder: Path) -> dict[tuple[str, ...], list[str]]:
        assert folder.is_dir()
        for command in table.run:
            if command.startswith("quorum sweep "):
                name = guide_tables.sweep_name(command)
                assert folders.setdefault((name, folder), command) == command
        return {}

    monkeypatch.setattr(guide_tables, "measure", recorded)
    assert guide_tables.measure_all(GUIDE, MEASURED, write=False, confirm=False)
    assert len([name for name, _ in folders if name == "topologies"]) == 2


def test_a_cell_that_has_drifted_is_found_and_a_row_that_is_not_there_is_an_error() -> None:
    table = next(table for table in MEASURED if table.name == "Memory")
    rows = (ROOT / table.page).read_text(encoding="utf-8").split(table.header)[1].splitlines()[2:]
    cells = [cell.strip() for cell in rows[4].strip("|").split("|")][1:]
    assert put(table, {("4",): cells})[1] == []
    text, (change,) = put(table, {("4",): ["1 [1, 1]", *["-"] * (len(cells) - 1)]})
    assert "1 [1, 1]" in change
    assert f"| 4 | 1 [1, 1] | {' | '.join(cells[1:])} |" in text
    with pytest.raises(ValueError, match="there is no row"):
        put(table, {("9",): cells})
    with pytest.raises(ValueError, match="there is no row"):
        put(next(table for table in MEASURED if table.rows == "levels"), {("nobody",): cells})


@pytest.mark.parametrize(
    ("header", "row", "of_figures"),
    [
        ("| team | steps |", "| a | 62.8 |", True),
        ("| team | score | note |", "| a | **0.8** | good |", True),
        ("| team | note |", "| a | saves 6 [4, 8] steps |", True),
        ("| world | tasks |", "| a | blocks, 2 of them heavy |", False),
        ("| key | default |", "| a | 5 |", False),
        ("| n |", "| 5 |", False),
    ],
)
def test_tables_of_figures_are_told_from_tables_of_names(header: str, row: str, of_figures: bool) -> None:
    assert is_of_figures(header, row) is of_figures


CODE = '"""What it does."""\n\n\ndef f(x: int) -> int:\n    """Return it."""\n    return x + 1  # why\n'


@pytest.mark.parametrize(
    ("suffix", "text", "same", "other"),
    [
        (".py", CODE, "def f(x:int)->int: return (x\n + 1)", CODE.replace("+ 1", "+ 2")),
        (".py", CODE, CODE.replace("Return it.", "Give it."), CODE.replace("    return", "    x = 0\n    return")),
        (".yaml", "a: 1  # steps\n", "# more\na:   1\n", "a: 2  # steps\n"),
        (".jinja", "Move {{ n }}.{# short #}", "Move {{ n }}.", "Move {{ m }}."),
        (".toml", "a = 1 # x", "a = 1", "a = 2"),
        (".txt", "#..#", "#..#", "#...#"),
    ],
)
def test_a_digest_covers_what_can_move_a_figure_and_no_comment(suffix: str, text: str, same: str, other: str) -> None:
    assert content(text, suffix) == content(same, suffix)
    assert content(text, suffix) != content(other, suffix)


def test_a_group_has_its_files_without_those_that_it_removes(tmp_path: Path) -> None:
    for name in ("world/a.py", "world/render.py", "world/__pycache__/a.pyc", "prompts/x.jinja"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x = 1\n")
    group = ("world", "!world/render.py", "prompts/*.jinja")
    before = group_digest(group, tmp_path)
    _change(tmp_path / "world/render.py")
    _change(tmp_path / "world/__pycache__/a.pyc")
    assert group_digest(group, tmp_path) == before
    for changed in ("world/a.py", "prompts/x.jinja", "world/new.py"):
        _change(tmp_path / changed)
        assert group_digest(group, tmp_path) != before
        before = group_digest(group, tmp_path)
    with pytest.raises(ValueError, match=r"gone\.py: no file matches"):
        group_digest(("gone.py",), tmp_path)


def _change(path: Path) -> None:
    """Change a file; what is known of the old one is forgotten."""
    path.write_text("x = 2\n")
    file_content.cache_clear()


def test_commands_depend_on_their_scripts_their_experiments_and_those_of_their_figures(tmp_path: Path) -> None:
    files = {
        "benchmarks/one.py": "x = 1",
        "benchmarks/two/main.py": "x = 1",
        "quorum/configs/experiment/talk.yaml": "grid: [n=2]",
        "quorum/study/reproduce/figures/rq1.yaml": "parts: [{experiment: talk}]\n# experiment: talk",
        "quorum/configs/experiment/silent.yaml": "grid: [n=2]",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    uses = {
        "python benchmarks/one.py --boards 4": {"benchmarks/one.py"},
        "python -m benchmarks.two table": {"benchmarks/two/main.py"},
        "quorum sweep experiment=talk n=2": {"quorum/configs/experiment/talk.yaml"},
        "quorum reproduce rq1": {"quorum/study/reproduce/figures/rq1.yaml", "quorum/configs/experiment/talk.yaml"},
    }
    for command, used in uses.items():
        for name, text in files.items():
            before = commands_digest([command], {}, tmp_path)
            (tmp_path / name).write_text("{}" if name.endswith("yaml") else "x = 2")
            file_content.cache_clear()
            assert (commands_digest([command], {}, tmp_path) != before) is (name in used), (command, name)
            (tmp_path / name).write_text(text)
            file_content.cache_clear()
    shown = [
        commands_digest(["quorum run"], {"mind.py": text}, tmp_path) for text in ("x = 1", "x = 1  # one", "x = 2")
    ]
    assert shown[0] == shown[1] != shown[2]


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GuideTable:
    """A table on a page in another folder, and no record of measurements."""
    table = next(table for table in MEASURED if table.name == "Memory")
    (tmp_path / "docs").mkdir()
    for page in (table.page, table.files or table.page):
        shutil.copy(ROOT / page, tmp_path / page)
    for module in (guide_tables, benchmarks.figure_tables):
        monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(guide_tables, "read_lock", lambda: read_lock(tmp_path / "lock"))
    monkeypatch.setattr(guide_tables, "write_lock", lambda entries: write_lock(entries, tmp_path / "lock"))
    return table


def test_a_table_is_out_of_date_when_a_group_changes_or_its_figures_are_edited(copy: GuideTable) -> None:
    page = guide_tables.ROOT / copy.page
    assert "never" in GUIDE.out_of_date(copy, None)
    digests = GUIDE.digests(copy)
    text = page.read_text(encoding="utf-8")
    update(GUIDE, copy, text, Measured(measured="2026-11-29", version="1", seconds=1, figures="", digests=digests))
    last = guide_tables.read_lock()[copy.name]
    assert GUIDE.out_of_date(copy, last) == ""
    older = last.model_copy(update={"digests": {**digests, "cube": "0", "loop": "0"}})
    assert GUIDE.out_of_date(copy, older) == "measured before the last change of: loop, cube"
    begin = text.index(copy.header)
    page.write_text(text[:begin] + text[begin:].replace("126 [", "125 [", 1), encoding="utf-8")
    assert figures_digest(copy) != last.figures
    assert "not those measured" in GUIDE.out_of_date(copy, last)
    page.write_text(text + "\nMore words.\n", encoding="utf-8")
    assert GUIDE.out_of_date(copy, last) == ""


def test_prose_that_repeats_a_figure_of_the_old_table_is_named() -> None:
    before = "It saves 6.8 steps of 65.0.\n\n| n | steps |\n|---|---|\n| 2 | 6.8 |\n| 4 | 65.0 |\n"
    assert list(old_figures_in_prose("page.md", before, before.replace("| 6.8 |", "| 7.1 |"))) == [
        "page.md:1 may still have an old figure: 6.8"
    ]
    assert list(old_figures_in_prose("page.md", before, before)) == []
