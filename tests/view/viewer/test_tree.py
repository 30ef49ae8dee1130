"""A run and its branches as a tree: on the page of the run, and on that of the folder."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from quorum.view.viewer import library
from quorum.view.viewer.library import Library
from quorum.view.viewer.runs import family, parting, relatives, sweep_table
from tests.view.viewer.conftest import Open, served
from tests.view.viewer.families import copied_branch, off, write_branch, write_family

if TYPE_CHECKING:
    from playwright.sync_api import Page

ORDER = ["first", "late", "drawn-0", "drawn-1", "drawn-2", "early", "deep"]
"""The latest branch first: so no line crosses another."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_family(tmp_path_factory.mktemp("family") / "runs")


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    with served(folder) as found:
        yield found


def rows(page: Page) -> list[str]:
    found: list[str] = page.locator(".tree tbody tr").evaluate_all("all => all.map(row => row.dataset.run ?? '')")
    return found


def test_a_family_is_all_that_hangs_together_and_nothing_else(folder: Path) -> None:
    for name in ("first", "deep", "drawn-2"):
        assert set(relatives(folder, name)) == set(ORDER), name
    assert set(relatives(folder, "stray")) == {"stray"}
    assert set(relatives(folder, "other")) == {"other"}
    lines = {line["run"]: line for line in family(folder, "first", "runs/first")["runs"]}
    assert lines["late"]["off"] == {"run": "first", "t": 12, "t_hat": 57.5, "change": "--say agent_0:go", "draw": 0}
    assert "off" not in lines["first"]


def test_a_run_that_is_opened_alone_opens_its_family_and_no_other(folder: Path) -> None:
    library = Library.of(folder / "early")
    assert library.folder("deep") == folder / "deep"
    assert library.folder("other") is None
    assert library.folder("stray") is None


def test_the_folder_is_searched_once_for_a_run_of_the_family(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    searches = []

    def counted(*arguments: object) -> object:
        searches.append(arguments)
        return relatives(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(library, "relatives", counted)
    opened = Library.of(folder / "early")
    for _ in range(3):
        assert opened.folder("deep") == folder / "deep"
    assert len(searches) == 1


def test_the_instant_at_which_two_branches_part_is_that_of_the_earlier_one(folder: Path) -> None:
    def part(one: str, other: str) -> tuple[int, float | None] | None:
        found = parting(folder / one, folder / other)
        return None if found is None else (found["t"], found["t_hat"])

    assert part("first", "late") == (12, 57.5)
    assert part("late", "first") == (12, 57.5)
    assert part("late", "early") == (4, None)
    assert part("deep", "first") == (4, None), "it left that run with the one that it branches off"
    assert part("deep", "early") == (9, None)
    assert part("drawn-0", "drawn-1") == (6, None)
    assert part("first", "other") is None


def test_runs_that_name_each_other_as_their_parents_are_still_shown(tmp_path: Path) -> None:
    write_branch(tmp_path, "one", off("other", 3))
    write_branch(tmp_path, "other", off("one", 5))
    write_branch(tmp_path, "self", off("self", 1))
    assert set(relatives(tmp_path, "one")) == {"one", "other"}
    assert parting(tmp_path / "one", tmp_path / "other") is not None
    assert parting(tmp_path / "self", tmp_path / "one") is None


def test_a_link_is_not_of_the_family(tmp_path: Path) -> None:
    write_branch(tmp_path / "elsewhere", "linked", off("first", 3))
    write_branch(tmp_path / "runs", "first")
    (tmp_path / "runs" / "linked").symlink_to(tmp_path / "elsewhere" / "linked")
    assert set(relatives(tmp_path / "runs", "first")) == {"first"}


@pytest.mark.parametrize("t", [-1, "3", 2**53, 10**30, None])
def test_an_instant_that_is_none_makes_no_branch(tmp_path: Path, t: object) -> None:
    write_branch(tmp_path, "first")
    write_branch(tmp_path, "odd", {**off("first", 0), "t": t})
    assert set(relatives(tmp_path, "first")) == {"first"}
    table = sweep_table(tmp_path)
    assert [line.get("off") for line in table["rows"]] == [None, None]


def test_the_tree_of_a_folder_has_each_branch_below_its_run(address: str, opened: Open) -> None:
    page, complaints = opened(address)
    table = page.locator(".runs tbody tr th a").all_inner_texts()
    assert [name for name in table if name in ORDER] == ORDER
    page.locator("header button", has_text="branches").click()
    assert rows(page) == [*ORDER, "", "stray"]
    assert "gone, which is not in this folder" in page.locator(".tree tr.absent").inner_text()
    words = page.locator(".tree tbody th.what").all_inner_texts()
    assert words[1] == "--say agent_0:go"
    assert words[2].startswith("llm.poor=1.0")
    assert words[3:5] == ["draw 1", "draw 2"]
    assert words[5:7] == ["agent_1=heuristic", "no change"]
    page.get_by_label("filter the runs").fill("early")
    assert rows(page) == ["", "early", "deep"], "what branches off it names it"
    assert complaints == []


def test_draws_of_one_change_are_folded_by_a_button(address: str, opened: Open) -> None:
    page, _ = opened(address)
    page.locator("header button", has_text="branches").click()
    page.locator(".fold").press("Enter")
    assert rows(page) == [name for name in [*ORDER, "", "stray"] if name not in ("drawn-1", "drawn-2")]
    assert page.locator(".fold").inner_text() == "3 draws, 3 to the goal"
    assert page.locator(".fold").evaluate("node => node === document.activeElement")
    page.locator(".fold").press("Enter")
    assert rows(page) == [*ORDER, "", "stray"]


def test_a_line_begins_at_the_instant_and_ends_with_the_run(address: str, opened: Open) -> None:
    page, _ = opened(address)
    page.locator("header button", has_text="branches").click()
    lines = page.locator(".tree tbody tr").evaluate_all("""all => all.map(row => {
      const line = row.querySelector('line:not(.stem)');
      return [line.x1, line.x2].map(x => x.baseVal.valueInSpecifiedUnits); })""")
    place = {t: 2.5 + 95 * t / 20 for t in range(21)}
    expected = {"first": (0, 20), "late": (12, 20), "drawn-1": (6, 11), "early": (4, 15), "deep": (9, 11)}
    for name, (begin, end) in expected.items():
        assert lines[ORDER.index(name)] == pytest.approx([place[begin], place[end]], abs=1e-3), name


@pytest.fixture(scope="module")
def real(two: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Real traces, of which one says that it branches off the other, and a third board next to them."""
    runs = tmp_path_factory.mktemp("real")
    shutil.copytree(two[0], runs / "first")
    copied_branch(two[1], runs / "a 'branch'", off("first", 3, "topology=centralized"))
    return runs


def test_a_run_leads_to_its_branches_and_each_of_them_back(real: Path, opened: Open) -> None:
    with served(real / "first") as address:
        page, complaints = opened(address)
        page.keyboard.press("b")
        page.locator(".tree a").click()
        page.wait_for_selector("html[data-ready=yes] .off a")
        assert page.locator("h1").inner_text() == "a 'branch'"
        assert page.locator(".off").inner_text() == "branches off first from t = 3: topology=centralized"
        assert page.evaluate("quorum.player.t") == 3
        page.locator(".off a").click()
        page.wait_for_selector("html[data-ready=yes]")
        assert page.locator("h1").inner_text() == "first"
        assert complaints == []


@pytest.mark.parametrize("way", ["folder", "run"])
def test_two_that_are_picked_stand_side_by_side(real: Path, opened: Open, way: str) -> None:
    with served(real if way == "folder" else real / "first") as address:
        page, complaints = opened(address)
        if way == "folder":
            page.get_by_label("pick first").check()
        else:
            page.keyboard.press("b")
        page.locator(".pick:not(:checked)").first.check()
        page.locator(".open-pair").click()
        page.wait_for_selector(".sides")
        page.wait_for_selector("html[data-ready=yes]")
        assert page.locator(".side-head h2").all_inner_texts() == ["A: first", "B: a 'branch'"]
        page.locator(".side-head a").nth(1).click()
        page.wait_for_selector(".lanes")
        assert page.locator("h1").inner_text() == "a 'branch'"
        assert complaints == []


def test_two_of_different_boards_are_refused_in_words(site: str, opened: Open, episodes: dict[str, Path]) -> None:
    page, _ = opened(f"{site}pair/{episodes['cube'].name}/{episodes['squeeze'].name}", whole=False)
    page.wait_for_selector("p.problems")
    reported = page.locator("p.problems").inner_text()
    assert "they do not play the same board; differences: env.name cube and squeeze" in reported
    assert str(episodes["cube"].parent) not in reported


def command(page: Page) -> list[str]:
    """Give the words that a shell makes of the command."""
    page.keyboard.press("c")
    text = page.locator("dialog[open] .command").text_content()
    page.keyboard.press("Escape")
    said = subprocess.run(["bash", "-c", f"printf '%s\\0' {text}"], capture_output=True, check=True)
    return said.stdout.decode().split("\0")[:-1]


def test_the_command_for_a_branch_names_the_instant_and_what_is_selected(real: Path, opened: Open) -> None:
    folder = real / "a 'branch'"
    with served(folder) as address:
        page, _ = opened(address)
        start = ["quorum", "branch", str(folder), "--at"]
        page.keyboard.press("ArrowRight")
        assert command(page) == [*start, "1"]
        page.locator(".agent").nth(1).click()
        assert command(page) == [*start, "1", "--mind", "agent_1=MIND"]
        assert page.locator(".command mark").text_content() == "MIND"
        events = list(map(json.loads, (folder / "trace.jsonl").read_text().splitlines()))
        sent = next(event for event in events if event["event"] == "message_sent")
        started = max(
            event["t_hat"]
            for event in events[: events.index(sent)]
            if event["event"] == "thought_start" and event["agent"] == sent["sender"]
        )
        page.evaluate("t => quorum.player.seek(t)", sent["t"])
        page.evaluate(
            "id => quorum.reader.open('message', quorum.model.messages.find(m => m.message === id))", sent["message"]
        )
        assert command(page) == [*start, f"{sent['t']}:{started}", "--drop", str(sent["message"])]
        planned = next(event for event in events if event["event"] == "plan" and event["status"] == "committed")
        page.evaluate("t => quorum.player.seek(t)", planned["t"])
        page.evaluate("id => quorum.reader.open('plan', quorum.model.plansById.get(id))", planned["plan"])
        *_, option, plan = command(page)
        assert option == "--plan"
        assert json.loads(plan.removeprefix(f"agent_{planned['agent']}:")) == planned["actions"]


@pytest.mark.parametrize(
    "name",
    ["plain", "-rf", "it's", '$(touch harm) `x` "y" !z', "a\nb\u202egnp\u001b[31m\u007f", "\u00e9\U0001f600 \\n"],
)
def test_whatever_a_run_is_called_a_shell_gets_its_name(site: str, opened: Open, name: str) -> None:
    page, _ = opened(site)
    text = page.evaluate(
        """async name => {
          const { commandText } = await import('./static/command.js');
          return commandText(name, { at: '3:57.5', options: [] }); }""",
        name,
    )
    said = subprocess.run(
        ["bash", "-c", f"printf '%s\\0' {text}"],
        capture_output=True,
        check=True,
        env={"LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"},
    )
    given = f"./{name}" if name.startswith("-") else name
    assert said.stdout.decode().split("\0")[:-1] == ["quorum", "branch", given, "--at", "3:57.5"]
    assert all(sign.isprintable() for sign in text)
