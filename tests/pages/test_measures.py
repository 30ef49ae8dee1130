"""Every measure of pages fails on a page that is wrong, and on that alone."""

from __future__ import annotations

import pytest

from tests.pages import measures
from tests.pages.conftest import Show

pytestmark = pytest.mark.conformance

HEAD = "<!doctype html><html lang=en><title>a page</title><meta name=viewport content='width=device-width'>"
GOOD = f"""{HEAD}<main><h1>A page</h1><header><b>words</b> <button>do</button></header>
<p>Words.</p><div style="overflow-x: auto" tabindex=0 role=group aria-label=wide>
<p style="width: 2000px">Words.</p></div>
<svg role=img aria-label=drawing width=100 height=20><text y=15 fill="#000">ink</text></svg>
<canvas width=100 height=20 role=img aria-label=painting></canvas>
<table><caption>Rows</caption><tr><th scope=col>n<tr><td>1</table></main>
<script>const c = document.querySelector("canvas").getContext("2d");
c.fillStyle = "#fff"; c.fillRect(0, 0, 100, 20); c.fillStyle = "black"; c.fillText("paint", 5, 15);</script>"""


def every(page: object) -> dict[str, list[str]]:
    return {
        "axe": measures.axe(page),  # type: ignore[arg-type]
        "beyond": measures.beyond_the_width(page),  # type: ignore[arg-type]
        "covered": measures.covered_or_cut(page, "header"),  # type: ignore[arg-type]
        "faint": measures.faint(page),  # type: ignore[arg-type]
        "unnamed": measures.unnamed(page),  # type: ignore[arg-type]
        "moving": measures.moving(page),  # type: ignore[arg-type]
        "reach": measures.out_of_reach(page),  # type: ignore[arg-type]
    }


def test_nothing_is_wrong_with_a_good_page(show: Show) -> None:
    assert not any(every(show(GOOD)).values())


@pytest.mark.parametrize(
    ("measure", "old", "new", "reported"),
    [
        ("axe", "<button>do</button>", "<button></button>", "button-name"),
        ("axe", "<p>Words.</p>", '<p style="color: #aaa; background: #fff">Words.</p>', "color-contrast"),
        ("axe", "<p>Words.</p>", "<label></label><input>", "label"),
        ("axe", " lang=en", "", "html-has-lang"),
        ("beyond", "<p>Words.</p>", '<p style="width: 900px">Words.</p>', "from 8 to 908"),
        ("beyond", "<p>Words.</p>", '<p style="position: fixed; left: -50px">Words.</p>', "from -50"),
        ("covered", "<b>words</b>", '<b style="position: absolute">words</b>', "overlap"),
        ("covered", "<b>words</b>", '<b style="display: block; width: 9px; overflow: hidden">words</b>', "is cut"),
        ("faint", 'fill="#000"', 'fill="#999"', "contrast of 2.85"),
        ("faint", 'fillStyle = "black"', 'fillStyle = "#999"', "contrast of 2.85"),
        ("faint", 'fillStyle = "#fff"', 'fillStyle = "#666"', "paint"),
        ("reach", "<button>do</button>", "<button onfocus=this.blur()>do</button>", "not reached"),
        ("reach", "<button>do</button>", "<button style='outline: none'>do</button>", "does not show"),
        (
            "reach",
            "<button>do</button>",
            "<button onkeydown='event.key === \"Tab\" || event.preventDefault()'>do</button>",
            "hears 0",
        ),
        (
            "reach",
            "<button>do</button>",
            "<b role=button tabindex=0 onkeydown='event.key === \"Enter\" && this.click()'>do</b>",
            "hears 1",
        ),
        ("unnamed", " aria-label=painting", "", "canvas in main says nothing"),
        ("unnamed", "role=img aria-label=drawing", "", "svg in main says nothing"),
        ("unnamed", "<caption>Rows</caption>", "", "has no name"),
        ("unnamed", "<th scope=col>n", "<td>n", "has no headers"),
        ("unnamed", "<title>a page</title>", "", "no title"),
        ("unnamed", "<h1>A page</h1>", "<h2>A page</h2>", "first heading"),
        (
            "moving",
            "<p>Words.</p>",
            "<style>@keyframes k { to { opacity: .9 } } p { animation: k 9s infinite }</style><p>Words.</p>",
            "moves",
        ),
        ("moving", "<p>Words.</p>", "<p style='scroll-behavior: smooth'>Words.</p>", "smoothly"),
        ("reach", "<p>Words.</p>", "<p style='cursor: pointer'>Words.</p>", "for the mouse alone"),
    ],
)
def test_a_wrong_page_is_found_out(show: Show, measure: str, old: str, new: str, reported: str) -> None:
    assert old in GOOD
    found = every(show(GOOD.replace(old, new)))[measure]
    assert any(reported in line for line in found), found
