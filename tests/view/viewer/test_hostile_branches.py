"""Untrusted branches and verdicts are shown as text, whatever they hold; no shell gets a command from them."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from quorum.view.viewer.episode import BLAME
from tests.view.viewer.conftest import Open, served
from tests.view.viewer.families import copied_branch, off, write_branch
from tests.view.viewer.test_hostile import NAMES, SCRIPT, SHOWN, TURNED, changed, poisoned

if TYPE_CHECKING:
    from playwright.sync_api import Page

RUN = "run '\"><script>window.harmed = 1<\u2044script> $(touch harmed) \u202e`x`"
WORDS = f"{SCRIPT} {TURNED}"
LONG = "y" * 1_000_000


@pytest.fixture(scope="module")
def outsiders(episodes: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose names and texts were meant to do harm, with a verdict; a branch of it, and branches of runs gone."""
    folder = tmp_path_factory.mktemp("outsiders") / "<img src=x onerror=alert(1)>"
    run = changed(episodes["cube"], folder / RUN, poisoned)
    decision = {"agent": NAMES[0], "t": 0, "t_hat": 0, "kind": WORDS}
    flips = [{**decision, "agent": WORDS, "t_hat": 1, "command": "touch harmed", "corrected": {"wins": 1}}] * 300
    verdict = {**decision, "method": WORDS, "reason": WORDS + LONG, "probability": 2e300, "causes": flips}
    (run / BLAME).write_text(json.dumps({"verdict": verdict}))
    copied_branch(run, folder / f"{RUN} 2", off(RUN, 3, f"agents={WORDS}", LONG, told=[f"--say {WORDS}"], t_hat=1e300))
    write_branch(folder, "stray", off(WORDS, 3, WORDS))
    write_branch(folder, "__proto__", off("constructor", 3, t_hat=-5))
    return folder


@pytest.fixture(scope="module", autouse=True)
def _unharmed(outsiders: Path) -> object:
    yield
    assert list(outsiders.parent.rglob("harmed")) == []


def unharmed(page: Page, complaints: list[str]) -> None:
    assert page.evaluate("[window.harmed, document.querySelectorAll('img').length]") == [None, 0]
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    assert complaints == []


def test_an_untrusted_tree_is_text(outsiders: Path, opened: Open) -> None:
    with served(outsiders) as address:
        page, complaints = opened(address)
        page.locator("header button", has_text="branches").click()
        rows = page.locator(".tree tbody tr")
        assert rows.count() == 6
        assert "\u27e8U+202E\u27e9gnp.exe" in page.locator(".tree tbody").evaluate("node => node.textContent")
        assert len(page.locator(".tree").inner_html()) < 60_000, "a long change is cut"
        for box in page.locator(".tree .pick").all()[:3]:
            box.check()
        assert "\u202e" not in page.locator(".picks").inner_text()
        unharmed(page, complaints)


def test_the_parent_of_an_untrusted_run_is_text(outsiders: Path, opened: Open) -> None:
    with served(outsiders / f"{RUN} 2") as address:
        page, complaints = opened(address)
        text = page.locator(".off").evaluate("node => node.textContent")
        assert SCRIPT.split(" ", maxsplit=1)[0] in text
        page.keyboard.press("b")
        page.locator(".tree a").first.click()
        page.wait_for_selector("html[data-ready=yes]")
        assert page.locator("h1").evaluate("node => node.textContent") == RUN.replace("\u202e", "\u27e8U+202E\u27e9")
        unharmed(page, complaints)


def test_an_untrusted_verdict_is_text_and_its_command_is_not_shown(outsiders: Path, opened: Open) -> None:
    with served(outsiders / RUN) as address:
        page, complaints = opened(address)
        text = page.locator(".reader").evaluate("node => node.textContent")
        assert SHOWN in text
        assert "touch" not in text
        assert len(text) < 20_000
        page.locator(".events button", has_text="blame:").first.click()
        assert page.evaluate("quorum.model.verdict.length") <= 101
        assert "touch" not in page.locator(".reader").evaluate("node => node.textContent")
        unharmed(page, complaints)


def test_untrusted_runs_stand_side_by_side_as_text(outsiders: Path, opened: Open) -> None:
    with served(outsiders / RUN, outsiders / f"{RUN} 2") as address:
        page, complaints = opened(address)
        assert SHOWN in page.locator(".off-list").evaluate("node => node.textContent")
        page.locator(".differing", has_text="Only in A").wait_for()
        page.keyboard.press("m")
        unharmed(page, complaints)


def test_the_command_for_an_untrusted_run_is_ours_with_its_names_as_words(
    outsiders: Path, opened: Open, tmp_path: Path
) -> None:
    with served(outsiders / RUN) as address:
        page, complaints = opened(address)
        page.evaluate("quorum.showCommand()")
        for agent in range(3):
            page.evaluate("agent => { quorum.chosen = agent; return quorum.showCommand(); }", agent)
            text = page.locator(".command").evaluate("node => node.textContent")
            assert all(sign.isprintable() for sign in text), "what is copied is what is read"
            words = shell(text, tmp_path)
            assert words == ["quorum", "branch", str(outsiders / RUN), "--at", "0", "--mind", f"{named(agent)}=MIND"]
        message = page.evaluate("quorum.model.messages[0].message")
        page.evaluate("quorum.player.seek(quorum.model.messages[0].t)")
        page.evaluate("quorum.reader.open('message', quorum.model.messages[0])")
        page.evaluate("quorum.showCommand()")
        assert shell(page.locator(".command").evaluate("node => node.textContent"), tmp_path)[-2:] == [
            "--drop",
            str(message),
        ]
        unharmed(page, complaints)
    assert list(tmp_path.iterdir()) == []


def named(agent: int) -> str:
    """Give a name as a shell can have it: it knows no NUL."""
    return NAMES[agent].replace("\0", "\ufffd")


def shell(text: str, folder: Path) -> list[str]:
    """Give the words that a shell makes of a command, in an empty folder."""
    environment = {"LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"}
    arguments = ["bash", "-c", f"printf '%s\\0' {text}"]
    said = subprocess.run(arguments, capture_output=True, check=True, cwd=folder, env=environment)
    return said.stdout.decode().split("\0")[:-1]
