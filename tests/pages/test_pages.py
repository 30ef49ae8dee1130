"""Every page of ours, in light and dark and at three widths: readable, within its width, and usable by keyboard.

`make test` looks at one page of each kind, `make conformance` at all of them.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from quorum.comparison import Question, compare
from quorum.comparison.report import write_report
from quorum.runs import read_results
from quorum.storage.outputs import Output
from quorum.view.viewer.command import export
from quorum.view.viewer.episode import read_episode
from quorum.view.viewer.page import exported_page
from tests.conftest import PATIENCE
from tests.folders import hostile_sweep, outcome, write_plan, write_run
from tests.pages import measures
from tests.view.viewer.conftest import served, started
from tests.view.viewer.families import copied_branch, off, write_family

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

WIDTHS = (1400, 1000, 390)
PAGES = (
    "index", "sweep", "map", "report", "report of arms", "report of one arm", "report of many arms", "exported",
    "damaged", "under way", "cube", "crafter", "transport", "squeeze", "foraging", "overcooked", "sixteen",
    "messages",    "pair", "exported pair", "tree", "branches", "branch pair",
)  # fmt: skip
KINDS = ("sweep", "report", "cube", "pair")
"""A page of each kind."""
PRESSED = {"map": "seeds by arms", "messages": "messages", "pair": "boards differ", "tree": "branches",
           "branches": "branches"}  # fmt: skip
"""What is pressed before a page is looked at."""


def arms(folder: Path, names: Sequence[str] = ("alone", "talk")) -> Path:
    """Write a sweep of arms that differ in more than one setting."""
    cells = []
    for place, arm in enumerate(names):
        for seed in range(4):
            values = outcome(steps=10 + seed + 20 * place)
            more = {f"topology__k{k}": f"{arm}-{k}" for k in range(6)}
            run = write_run(folder, values, name=f"{arm}-{seed}", n=2, seed=seed, **more)
            cells.append((f"{arm}-{seed}", run, arm))
    write_plan(folder, cells, name="arms", arms={arm: [] for arm in names})
    return folder


def reported(folder: Path, file: Path, question: Question, episodes: Mapping[str, Path] | None = None) -> str:
    found = read_results(folder)
    write_report(found, compare([found], question), Output(file, "--out"), episodes=episodes)
    return file.as_uri()


@pytest.fixture(scope="module")
def addresses(
    site: str,
    episodes: dict[str, Path],
    two: tuple[Path, Path],
    sixteen: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[dict[str, str]]:
    folder = tmp_path_factory.mktemp("pages")
    damaged = folder / "damaged" / "run"
    shutil.copytree(episodes["cube"], damaged)
    trace = (damaged / "trace.jsonl").read_bytes()
    (damaged / "trace.jsonl").write_bytes(trace[: len(trace) // 2])
    exported = folder / "episode.html"
    exported.write_text(exported_page(read_episode(episodes["cube"])), encoding="utf-8")
    both = export(two, Output(folder / "pair.html", "--export"))
    hostile = hostile_sweep(folder / "hostile")
    several = arms(folder / "several", [f"arm-{k}" for k in range(7)])
    running = started(folder, episodes["cube"])
    family = write_family(folder / "family")
    branch = copied_branch(two[1], family / "branch", off("run", 3, "topology=centralized"))
    run = Path(shutil.copytree(two[0], family / "run"))
    with (
        served(damaged) as broken,
        served(arms(folder / "arms")) as sweep,
        served(sixteen) as large,
        running.guarded(),
        served(running.path) as under_way,
        served(*two) as pair,
        served(family) as tree,
        served(run) as alone,
        served(run, branch) as branched,
    ):
        yield {
            "index": site,
            "sweep": sweep,
            "map": sweep,
            "report": reported(hostile, folder / "report.html", Question(baseline="plain")),
            "report of arms": reported(folder / "arms", folder / "one.html", Question()),
            "report of one arm": reported(arms(folder / "single", ["alone"]), folder / "single.html", Question()),
            "report of many arms": reported(
                several, folder / "many.html", Question(), {f"arm-{k}-0": exported for k in range(7)}
            ),
            "under way": under_way,
            "sixteen": large,
            "messages": large,
            "pair": pair,
            "exported pair": both.as_uri(),
            "tree": tree,
            "branches": alone,
            "branch pair": branched,
            "exported": exported.as_uri(),
            "damaged": broken,
            **{world: f"{site}run/{run.name}" for world, run in episodes.items()},
        }


@pytest.fixture(scope="module")
def lookers(browser: Browser) -> Iterator[dict[str, Page]]:
    """A tab in light and one in dark, which measure what they load."""
    contexts = {
        scheme: browser.new_context(
            viewport={"width": 1400, "height": 900},
            color_scheme=scheme,
            reduced_motion="reduce",
        )
        for scheme in ("light", "dark")
    }
    for context in contexts.values():
        context.add_init_script(path=measures.SCRIPT)
    yield {scheme: context.new_page() for scheme, context in contexts.items()}
    for context in contexts.values():
        context.close()


@pytest.fixture(
    scope="module",
    params=[pytest.param(page, marks=[] if page in KINDS else pytest.mark.conformance) for page in PAGES],
)
def looks(request: pytest.FixtureRequest, addresses: dict[str, str], lookers: dict[str, Page]) -> dict[str, Page]:
    """A page in light and in dark."""
    name = request.param
    for page in lookers.values():
        page.set_viewport_size({"width": 1400, "height": 900})
        page.mouse.move(0, 0)
        page.goto("about:blank")
        page.goto(addresses[name])
        if "report" not in name:
            page.wait_for_selector("html[data-ready=yes]", timeout=1000 * PATIENCE)
        if name in PRESSED:
            page.locator("button", has_text=PRESSED[name]).first.click()
    return lookers


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_whoever_looks_can_read_it_and_hears_its_names(looks: dict[str, Page], scheme: str) -> None:
    measures.resize(looks[scheme])
    rules = ("color-contrast",) if scheme == "dark" else ()  # nothing else that axe-core looks at differs
    assert measures.axe(looks[scheme], *rules) == []
    assert measures.faint(looks[scheme]) == []
    assert measures.unnamed(looks[scheme]) == []
    assert measures.moving(looks[scheme]) == []


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_stands_beyond_its_width(looks: dict[str, Page], width: int) -> None:
    measures.resize(looks["light"], width)
    assert measures.beyond_the_width(looks["light"]) == []
    if looks["light"].locator("header").count():
        assert measures.covered_or_cut(looks["light"], "header") == []


def test_every_control_is_reached_by_keyboard(looks: dict[str, Page]) -> None:
    measures.resize(looks["light"])
    assert measures.out_of_reach(looks["light"]) == []


def test_no_figure_stands_twice(looks: dict[str, Page]) -> None:
    drawings = looks["light"].locator("figure svg").evaluate_all("all => all.map(svg => svg.innerHTML)")
    digests = [hashlib.sha256(drawing.encode()).hexdigest() for drawing in drawings]
    assert len(set(digests)) == len(digests)
