"""The page of a sweep in a real browser, without network: it loads, says nothing on the console, and shows it all."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from quorum.comparison import Question, compare
from quorum.comparison.report import write_report
from quorum.runs import read_results
from quorum.storage.outputs import Output
from tests.folders import HOSTILE, hostile_sweep

api = pytest.importorskip("playwright.sync_api", reason="pip install 'quorum-harness[test]'")
if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
LIGHTNESS = "(node, key) => getComputedStyle(node)[key].match(/\\d+/g).slice(0, 3).reduce((a, b) => a + +b, 0)"
"""Sum of red, green and blue, from 0 to 765."""
INSTALL = "no browser is installed: apt-get install chromium, or playwright install chromium"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with api.sync_playwright() as playwright:
        own = playwright.chromium.executable_path
        path = next(filter(None, map(shutil.which, (*BROWSERS, own))), None)
        if path is None:
            pytest.skip(INSTALL)
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = hostile_sweep(tmp_path_factory.mktemp("browser") / "sweep")
    found = read_results(folder)
    compared, output = compare([found], Question(baseline="plain")), Output(folder / "report.html", "--out")
    write_report(found, compared, output, "quorum report sweep --baseline plain")
    return folder / "report.html"


def opened(browser: Browser, report: Path, *, width: int = 1280, scheme: str = "light") -> tuple[Page, list[str]]:
    """Open the page offline; give it, and everything that the browser complains of or asks the network for."""
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme, offline=True)
    page, complaints = context.new_page(), []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", lambda dialog: (complaints.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    page.on("request", lambda request: request.url == report.as_uri() or complaints.append(request.url))
    page.goto(report.as_uri())
    return page, complaints


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 420, 390])
def test_the_page_loads_offline_and_fits_the_window(browser: Browser, report: Path, width: int, scheme: str) -> None:
    page, complaints = opened(browser, report, width=width, scheme=scheme)
    assert complaints == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_page_shows_what_it_must(browser: Browser, report: Path) -> None:
    page, _ = opened(browser, report)
    assert page.locator("h1").inner_text() == " ".join(f"sweep {HOSTILE}".split())
    assert page.locator(".simulated").is_visible()
    sizes = [drawing.bounding_box() for drawing in page.locator("figure svg").all()]
    assert len(sizes) == 8  # completion, steps, messages, coherence, difference, radar, failures, pareto
    assert all(size is not None and size["width"] > 250 and size["height"] > 100 for size in sizes)
    text = page.locator("main").inner_text()
    for part in ("12 of 12 runs are pooled", "Parse failures: 0.0%", "difference from plain", f"quorum sweep {HOSTILE}",
                 "quorum report", "--baseline plain", "quorum-harness 1.0.0"):  # fmt: skip
        assert part in text


def test_the_runs_unfold_and_lead_to_their_traces(browser: Browser, report: Path) -> None:
    page, _ = opened(browser, report)
    packages = page.locator("details", has_text="Versions of all packages")
    assert not packages.locator("td").first.is_visible()
    packages.locator("summary").click()
    assert packages.locator("td").first.inner_text() == "1.0.0"
    links = page.locator("a").all()
    assert len(links) == 12
    assert all(link.is_visible() for link in links)
    found = {page.evaluate("link => link.href", link.element_handle()) for link in links}
    assert found == {trace.as_uri() for trace in report.parent.glob("*/trace.jsonl")}


def test_on_a_telephone_every_figure_is_as_wide_as_the_text_and_no_letter_is_tiny(
    browser: Browser, report: Path
) -> None:
    page, _ = opened(browser, report, width=390)
    for drawing in page.locator("figure svg").all():
        box = drawing.bounding_box()
        assert box is not None
        assert 0 <= box["x"] < box["x"] + box["width"] <= 390
    heights = page.locator("figure svg text").evaluate_all("texts => texts.map(t => t.getBoundingClientRect().height)")
    assert min(heights) >= 9


def test_ink_turns_with_the_colour_scheme(browser: Browser, report: Path) -> None:
    def lightness(scheme: str) -> tuple[int, int]:
        page, _ = opened(browser, report, scheme=scheme)
        ink = page.locator("figure svg text").first.evaluate(LIGHTNESS, "fill")
        return ink, page.locator("body").evaluate(LIGHTNESS, "backgroundColor")

    (light_ink, light_paper), (dark_ink, dark_paper) = lightness("light"), lightness("dark")
    assert light_paper - light_ink > 400
    assert dark_ink - dark_paper > 400
