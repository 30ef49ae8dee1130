"""One browser for the tests of pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

from tests.pages.measures import SCRIPT
from tests.view.viewer.conftest import browser, episodes, opened, site, sixteen, tabs, two

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

__all__ = ["browser", "episodes", "opened", "site", "sixteen", "tabs", "two"]

Show = Callable[[str], "Page"]


@pytest.fixture
def show(browser: Browser) -> Iterator[Show]:
    """Shows a page that is given in words, 390 px wide."""
    context = browser.new_context(viewport={"width": 390, "height": 800})
    context.add_init_script(path=SCRIPT)

    def shown(html: str) -> Page:
        page = context.new_page()
        page.set_content(html)
        return page

    yield shown
    context.close()
