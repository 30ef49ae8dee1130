"""The table of a sweep in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.folders import HOSTILE, hostile_sweep, outcome, write_plan, write_run
from tests.view.viewer.conftest import Open, served


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = hostile_sweep(tmp_path_factory.mktemp("table") / "sweep")
    write_run(folder, outcome(steps=3), name="late", n=4, seed=9, meta={"outcome": "error"})
    (folder / "cell-x.partial-0a1b2c3d").mkdir()
    (folder / "cell-x.partial-0a1b2c3d" / "trace.jsonl").write_text("")
    (folder / "broken").mkdir()
    (folder / "broken" / "meta.json").write_text("{")
    with served(folder) as address:
        yield address


def column(page: object, number: int) -> list[str]:
    return page.locator(f".runs tbody tr > :nth-child({number})").all_inner_texts()  # type: ignore[attr-defined]


def number_of(page: object, name: str) -> int:
    heads = page.locator(".runs thead button").all_inner_texts()  # type: ignore[attr-defined]
    return next(i for i, head in enumerate(heads, 1) if head.split("\n")[-1].rstrip(" \u25b2\u25bc") == name)


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.conformance)])
def test_the_table_loads_and_shows_every_run(sweep: str, opened: Open, scheme: str, tmp_path: Path) -> None:
    page, complaints = opened(sweep, scheme=scheme)
    page.screenshot(path=tmp_path / f"sweep-{scheme}.png")
    assert complaints == []
    assert page.locator("header .badge").first.inner_text() == "simulated"
    assert page.locator(".runs tbody tr").count() == 15
    assert "broken: meta.json" in page.locator(".problems").inner_text()
    assert {"unfinished", "not counted", "error"} <= set(column(page, number_of(page, "outcome")))
    assert page.locator("h1").inner_text() == " ".join(f"sweep {HOSTILE}".split())
    assert page.locator(".runs thead canvas").count() >= 4


def test_a_click_on_a_head_sorts_up_and_then_down(sweep: str, opened: Open) -> None:
    page, _ = opened(sweep)
    head = page.get_by_label("sort by outcome.steps")
    steps = number_of(page, "steps")
    for way in (1, -1):
        head.click()
        found = [float(text) for text in column(page, steps) if text != "\u2013"]
        assert found == sorted(found, reverse=way < 0)
        assert len(found) == 13
    assert page.locator("th[aria-sort=descending]").count() == 1
    page.get_by_label("sort by n", exact=True).click()
    found = [text for text in column(page, number_of(page, "n")) if text != "\u2013"]
    assert found == sorted(found)


def test_words_and_values_filter_the_rows(sweep: str, opened: Open) -> None:
    page, _ = opened(sweep)
    for words, rows in (
        ("n=8", 6),
        ("n=8 plain", 3),
        ("outcome=error", 1),
        ("late", 1),
        ("nothing-of-the-kind", 0),
        ("<script>", 12),
        ("", 15),
    ):
        page.get_by_label("filter the runs").fill(words)
        assert page.locator(".runs tbody tr").count() == rows, words
        assert f"{rows} of 15 runs" in page.locator("header").inner_text()


def test_another_metric_can_be_shown(sweep: str, opened: Open) -> None:
    page, _ = opened(sweep)
    page.get_by_label("another metric").select_option("model.calls")
    assert set(column(page, number_of(page, "calls"))) == {"9", "0", "\u2013"}


def test_a_row_leads_to_its_episode_and_back(site: str, opened: Open, episodes: dict[str, Path]) -> None:
    page, complaints = opened(site)
    page.locator(".runs a", has_text=episodes["squeeze"].name).click()
    page.wait_for_selector("html[data-page=episode][data-ready=yes]")
    assert page.locator("h1").inner_text() == episodes["squeeze"].name
    page.get_by_text("\u2039 runs").click()
    page.wait_for_selector("html[data-page=sweep][data-ready=yes]")
    assert complaints == []


LONG = "a-long-name-of-a-run-" * 3


@pytest.fixture(scope="module")
def arms(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve a sweep of two arms that differ in six keys, on four seeds."""
    folder = tmp_path_factory.mktemp("arms") / "sweep"
    cells = []
    for arm in ("alone", "talk"):
        more = {f"topology__k{k}": f"{arm}-{k}" for k in range(6)}
        for seed in range(4):
            name = f"{arm}-{LONG}{seed}"
            values = outcome(steps=10 + seed + 20 * (arm == "talk"))
            meta = {"outcome": "error"} if (arm, seed) == ("talk", 3) else None
            cells.append((name, write_run(folder, values, name=name, n=2, seed=seed, meta=meta, **more), arm))
    write_plan(folder, cells, name="arms", arms={arm: [] for arm in ("alone", "talk")})
    with served(folder) as address:
        yield address


def heads(page: object) -> list[str]:
    texts = page.locator(".runs thead button").all_inner_texts()  # type: ignore[attr-defined]
    return [text.split("\n")[-1].rstrip(" \u25b2\u25bc") for text in texts]


def test_with_arms_the_metrics_come_first_and_what_the_arm_implies_is_folded(arms: str, opened: Open) -> None:
    page, complaints = opened(arms)
    assert heads(page)[:5] == ["run", "seed", "arm", "outcome", "steps"]
    assert not [head for head in heads(page) if head.startswith("k")]
    first = page.locator(".runs thead th").nth(3).bounding_box()
    assert first is not None
    assert first["x"] + first["width"] <= 1000
    page.get_by_text("settings of the arms").click()
    assert [head for head in heads(page) if head.startswith("k")]
    assert heads(page).index("seed") < min(i for i, head in enumerate(heads(page)) if head.startswith("k"))
    page.get_by_text("fold settings").click()
    assert not [head for head in heads(page) if head.startswith("k")]
    assert complaints == []


def test_columns_with_one_value_come_last(arms: str, opened: Open) -> None:
    page, _ = opened(arms)
    later = range(1 + heads(page).index("outcome"), len(heads(page)))
    several = [len(set(column(page, number + 1))) > 1 for number in later]
    assert several == sorted(several, reverse=True)
    assert len(set(several)) == 2


def test_long_names_keep_both_ends(arms: str, opened: Open) -> None:
    page, _ = opened(arms)
    names = page.locator(".runs tbody a")
    texts = names.all_inner_texts()
    assert len(set(texts)) == len(texts) == 8
    assert all("\u2026" in text and text.startswith(("alone-a-", "talk-a-")) for text in texts)
    assert all(text[-1] == names.nth(place).get_attribute("title")[-1] for place, text in enumerate(texts))


def test_a_filter_finds_what_is_folded(arms: str, opened: Open) -> None:
    page, _ = opened(arms)
    page.get_by_label("filter the runs").fill("k0=talk-0")
    assert page.locator(".runs tbody tr").count() == 4


def test_a_sweep_without_arms_stays_as_it_is(site: str, opened: Open) -> None:
    page, _ = opened(site)
    assert heads(page)[:4] == ["run", "n", "seed", "outcome"]
    assert page.get_by_text("settings of the arms").count() == 0


def test_the_map_has_a_place_for_each_seed_and_arm_that_leads_to_the_episode(arms: str, opened: Open) -> None:
    page, complaints = opened(arms)
    page.get_by_text("seeds by arms").click()
    assert not page.locator(".runs").is_visible()
    assert page.locator(".seeds thead th").all_inner_texts() == ["seed", "0", "1", "2", "3"]
    assert page.locator(".seeds tbody th").all_inner_texts() == ["alone", "talk"]
    page.get_by_label("the metric of the map").select_option("outcome.steps")
    assert page.locator(".seeds tbody tr").nth(1).locator("a").all_inner_texts() == ["30", "31", "32", "! 33"]
    strength = "link => getComputedStyle(link).backgroundColor"
    tints = [page.locator(".seeds a").nth(place).evaluate(strength) for place in (0, 3, 7)]
    assert len(set(tints)) == 3, tints
    link = page.get_by_label("talk, seed 2: outcome.steps 32")
    assert link.get_attribute("href").endswith(f"run/talk-{LONG}2")
    page.get_by_text("seeds by arms").click()
    assert page.locator(".runs").is_visible()
    assert complaints == []


@pytest.mark.parametrize("width", [1000, 390])
def test_nothing_is_beyond_the_width(arms: str, opened: Open, width: int) -> None:
    page, _ = opened(arms)
    page.set_viewport_size({"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for control in page.locator("header button, header input, header select, header h1").all():
        box = control.bounding_box() if control.is_visible() else None
        assert box is None or 0 <= box["x"] <= box["x"] + box["width"] <= width


def test_on_a_telephone_the_name_of_a_run_takes_few_lines(arms: str, opened: Open) -> None:
    page, _ = opened(arms)
    page.set_viewport_size({"width": 390, "height": 800})
    widths = page.locator(".runs tbody th").evaluate_all("names => names.map(name => name.clientWidth)")
    assert min(widths) >= 140
