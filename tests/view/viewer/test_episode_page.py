"""The page of an episode in a real browser: it shows what the world was, and can be moved through."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from crafter_env.constants import Material
from crafter_env.symbolic.picture import KINDS
from maeil.trace import read_trace, replay
from maeil.trace.events import MessageSent, PlanChange, StageChange, StepOutcome
from maeil.world import World
from overcooked_env.symbolic.picture import KINDS as KITCHEN
from quorum.configuration.registry import worlds
from quorum.view.viewer.episode import read_episode
from quorum.view.viewer.page import exported_page
from quorum_base.drawing import Drawable
from tests.conftest import PATIENCE
from tests.view.viewer.conftest import EPISODES, Open

if TYPE_CHECKING:
    from playwright.sync_api import Page

PICTURE = "t => { quorum.player.seek(t); return quorum.picture(); }"
DIFFERS = """async ([selector, t]) => {
  const pixels = () => document.querySelector(selector).toDataURL();
  const before = pixels();
  quorum.player.seek(t);
  await new Promise(requestAnimationFrame);
  return before !== pixels();
}"""


def world_of(folder: Path) -> World:
    values = yaml.safe_load((folder / "config.yaml").read_text())["env"]
    component = worlds.get(values["name"])
    return component.build(component.config.model_validate(values), None)


def address(site: str, folder: Path, t: int | None = None) -> str:
    return f"{site}run/{folder.name}" + ("" if t is None else f"#t={t}")


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.conformance)])
@pytest.mark.parametrize("world", EPISODES)
def test_pages_load_without_complaints_and_fit(
    site: str, episodes: dict[str, Path], opened: Open, world: str, scheme: str, tmp_path: Path
) -> None:
    page, complaints = opened(address(site, episodes[world], 3), scheme=scheme)
    page.screenshot(path=tmp_path / f"{world}-{scheme}.png")
    assert complaints == []
    assert page.locator(".problems").is_hidden()
    assert page.evaluate("[document.documentElement.scrollWidth, document.documentElement.scrollHeight]") == [1280, 800]
    for part in (".lanes", ".board", ".player", ".now", ".reader", ".agents"):
        box = page.locator(part).bounding_box()
        assert box is not None
        assert box["width"] > 100
        assert box["y"] + box["height"] <= 800.5


@pytest.mark.parametrize("world", EPISODES)
def test_the_picture_of_every_instant_is_the_worlds_own(
    site: str, episodes: dict[str, Path], opened: Open, world: str
) -> None:
    """Backwards, so that pictures come from keys and differences and not from one pass."""
    folder = episodes[world]
    page, _ = opened(address(site, folder))
    played = world_of(folder)
    assert isinstance(played, Drawable)
    kept = [(played.draw(), facts(world, played)) for _ in replay(read_trace(folder), played)]
    backwards = list(reversed(range(len(kept))))
    for t, shown in zip(backwards, page.evaluate(f"ts => ts.map({PICTURE})", backwards), strict=True):
        drawing, found = kept[t]
        assert bytes(shown["ground"]) == drawing.ground, t
        assert {name: mark["title"] for name, mark in shown["marks"].items()} == {
            name: mark.title for name, mark in drawing.marks.items()
        }
        assert shown["caption"] == drawing.caption
        assert shown["holdings"] == list(drawing.holdings)
        assert seen(world, shown) == found, t


def facts(world: str, played: Any) -> Any:
    """What the environment itself says of its state, without its drawing."""
    match world:
        case "cube":
            snapshot = played.env.snapshot()
            blocks = {(f"b{b.id}", b.col, b.row, b.weight) for b in snapshot.blocks}
            return [(col, row) for row, col in snapshot.agents], blocks
        case "crafter":
            state = played.env.crafter_state
            places = [tuple(place) for place in state.positions.tolist()]
            kinds = sorted((creature.kind.name, *creature.cell) for creature in state.creatures())
            return places, [Material(number).name for number in state.materials.T.ravel().tolist()], kinds
        case "transport":
            board = played.env.board
            return [
                sorted((item.colour[0].upper(), item.place[1] / 2, item.place[0] / 2) for item in items)
                for items in (board.boxes, board.targets)
            ]
        case "foraging":
            field = played.env.field
            return [tuple(map(int, player.position[::-1])) for player in played.env.players], sorted(
                (int(col), int(row), int(field[row, col])) for row, col in zip(*field.nonzero(), strict=True)
            )
        case "overcooked":
            state = played.state
            pots = played.mdp.get_pot_locations()
            things = [(what, *at) for at in pots if at in state.objects for what in state.objects[at].ingredients]
            things += [("soup", *at) for at in pots if at in state.objects and not state.objects[at].is_idle]
            things += [(one.name, *at) for at, one in state.objects.items() if at not in pots]
            held = [(one.held_object.name, *one.position) for one in state.players if one.held_object is not None]
            return [player.position for player in state.players], sorted(things + held)
    return list(played.env.sums)


def seen(world: str, shown: Any) -> Any:
    """The same, read from the picture on the page."""
    marks = shown["marks"]
    agents = sorted((m for m in marks.values() if m["agent"] >= 0), key=lambda m: m["agent"])
    match world:
        case "cube":
            places = [(m["x"], m["y"]) for m in agents]
            return places, {(m["label"], m["x"], m["y"], m["width"]) for n, m in marks.items() if n.startswith("block")}
        case "crafter":
            ground = [KINDS[kind].name for kind in shown["ground"]]
            others = [m for n, m in marks.items() if m["agent"] < 0 and "looks" not in n]
            kinds = sorted((m["title"].removeprefix("ripe "), m["x"], m["y"]) for m in others)
            return [(m["x"], m["y"]) for m in agents], ground, kinds
        case "transport":  # items that share a place stand around it
            return [
                sorted(
                    (m["label"], place(m["x"], m["width"]), place(m["y"], m["height"]))
                    for m in marks.values()
                    if m["title"].endswith(what)
                )
                for what in ("box", "target")
            ]
        case "foraging":
            foods = [m for n, m in marks.items() if n.startswith("food")]
            return [cell(m) for m in agents], sorted((*cell(m), int(m["label"])) for m in foods)
        case "overcooked":
            others = [m for m in marks.values() if m["agent"] < 0]
            return [cell(m) for m in agents], sorted((KITCHEN[m["kind"]].name, *cell(m)) for m in others)
    sums = {n: int(m["label"]) for n, m in marks.items() if n.startswith("sum")}
    return [sums[f"sum {number}"] for number in range(len(sums))]


def until(page: Page, condition: str) -> None:
    """Wait for a condition: the page's policy forbids `eval`, by which Playwright would."""
    end = time.monotonic() + PATIENCE
    while not page.evaluate(condition):
        assert time.monotonic() < end, condition
        page.wait_for_timeout(15)


def cell(mark: Any) -> tuple[int, int]:
    """The column and the row that hold a mark."""
    return int(mark["x"]), int(mark["y"])


def place(edge: float, length: float) -> float:
    """The half unit next to the middle of a mark."""
    return round(2 * (edge + length / 2)) / 2


def test_moving_the_time_changes_the_board_and_the_cursor(site: str, episodes: dict[str, Path], opened: Open) -> None:
    page, _ = opened(address(site, episodes["cube"]))
    cursor = page.locator(".lanes-cursor")
    before = cursor.bounding_box()
    assert page.evaluate(DIFFERS, [".board", 12])
    after = cursor.bounding_box()
    assert before is not None
    assert after is not None
    assert after["x"] > before["x"] + 30
    page.locator("input[type=range]").fill("7")
    assert page.locator(".clock").inner_text().startswith("t = 7 of")
    page.locator(".now h2", has_text="At t = 7").wait_for()


def test_the_keyboard_moves_and_plays(site: str, episodes: dict[str, Path], opened: Open) -> None:
    page, _ = opened(address(site, episodes["cube"]))

    def t() -> int:
        return page.evaluate("quorum.player.t")

    for key, expected in (("ArrowRight", 1), ("Shift+ArrowRight", 11), ("ArrowLeft", 10), ("End", 42), ("Home", 0)):
        page.keyboard.press(key)
        assert t() == expected, key
    page.locator(".player select").select_option("8")  # five seconds to the end, where it would stop by itself
    page.locator("h1").click()
    page.keyboard.press("Space")
    until(page, "quorum.player.t >= 3")
    page.keyboard.press("Space")
    stopped = t()
    page.wait_for_timeout(500)
    assert t() == stopped < 42
    scale = page.evaluate("quorum.lanes.scale")
    page.keyboard.press("+")
    assert page.evaluate("quorum.lanes.scale") > scale
    page.keyboard.press("0")
    assert page.evaluate("quorum.lanes.scale") == pytest.approx(scale)
    page.keyboard.press("?")
    assert page.locator("dialog.help").first.is_visible()


def test_n_jumps_to_failures_and_interruptions_and_reads_them_out(
    site: str, episodes: dict[str, Path], opened: Open
) -> None:
    page, _ = opened(address(site, episodes["cube"]))
    trace = read_trace(episodes["cube"])
    interrupted = [s.t for s in trace.stamped(StageChange) if s.event.to_stage == "I"]
    ended = [s.t for s in trace.stamped(PlanChange) if s.event.status in ("failed", "timed_out")]
    attempts = [s.t for s in trace.stamped(StepOutcome) if any(not a["succeeded"] for a in s.event.attempts)]
    expected = sorted({t for t in (*interrupted, *ended, *attempts) if t > 0})
    visited = []
    for _ in expected:
        page.keyboard.press("n")
        visited.append(page.evaluate("quorum.player.t"))
    assert visited == expected
    assert page.locator(".reader p.bad").count() >= 1
    for t in reversed(expected[:-1]):
        page.keyboard.press("Shift+N")
        assert page.evaluate("quorum.player.t") == t


def test_a_deep_link_opens_its_instant_and_follows_it(site: str, episodes: dict[str, Path], opened: Open) -> None:
    page, _ = opened(address(site, episodes["cube"], 17))
    assert page.evaluate("quorum.player.t") == 17
    page.evaluate("window.location.hash = '#t=5'")
    until(page, "quorum.player.t === 5")
    page.keyboard.press("ArrowRight")
    until(page, "window.location.hash === '#t=6'")
    for odd in ("#t=99999", "#t=-3", "#<img src=x>"):
        page.evaluate("hash => { window.location.hash = hash }", odd)
    until(page, "quorum.player.t === 42")


def test_search_finds_messages_plans_and_calls_and_leads_there(
    site: str, episodes: dict[str, Path], opened: Open
) -> None:
    page, complaints = opened(address(site, episodes["cube"]))
    message = next(s for s in read_trace(episodes["cube"]).stamped(MessageSent) if s.t > 0)
    page.keyboard.press("/")
    page.keyboard.type(message.event.content.upper())
    row = page.locator(".results button", has_text=f"t = {message.t} ").first
    row.click()
    assert page.evaluate("quorum.player.t") == message.t
    assert message.event.content in page.locator(".reader pre").inner_text()
    page.locator("input[type=search]").fill("You are agent_1")
    page.locator('.results[data-found="You are agent_1"]').wait_for()
    call = page.locator(".results button", has_text="call").first
    call.click()
    page.locator(".reader details summary").nth(1).click()  # who one is stands in the second message
    assert "You are agent_1, one of 3 agents" in page.locator(".reader details pre").nth(1).inner_text()
    page.locator("input[type=search]").fill("no such words anywhere")
    page.locator(".results", has_text="nothing has").wait_for()
    assert complaints == []


def test_a_click_on_a_message_a_plan_and_a_thought_reads_it(site: str, episodes: dict[str, Path], opened: Open) -> None:
    page, _ = opened(address(site, episodes["cube"]))
    reader = page.locator(".reader")
    message = next(read_trace(episodes["cube"]).of(MessageSent))
    x0, y0, x1, y1 = page.evaluate("quorum.lanes.hits.find(hit => hit[4] === 'message').slice(0, 4)")
    page.locator(".lanes").click(position={"x": (x0 + x1) / 2, "y": (y0 + y1) / 2})
    assert message.content in reader.inner_text()
    assert "agent_0" in reader.inner_text()
    page.locator(".events button", has_text="P0.1 committed").click()
    assert "move_to_block(" in reader.inner_text()
    assert "rendezvous" in reader.inner_text()
    page.locator(".events button", has_text="thinks (plan)").first.click()
    reader.get_by_text("reply (simulated)").wait_for()
    assert "simulated, 1," in reader.inner_text()
    assert "tokens in" in reader.inner_text()


def test_an_agent_that_is_chosen_is_chosen_everywhere(site: str, episodes: dict[str, Path], opened: Open) -> None:
    page, _ = opened(address(site, episodes["cube"]))
    page.locator(".agent").nth(1).click()
    assert page.locator(".agent[aria-pressed=true]").inner_text().startswith("agent_1")
    assert page.evaluate("[quorum.world.board.chosen, quorum.lanes.chosen]") == [1, 1]
    assert "of agent_1" in page.locator(".now h2").inner_text()
    page.locator(".agent").nth(1).click()
    assert page.evaluate("[quorum.world.board.chosen, quorum.lanes.chosen]") == [-1, -1]


def test_light_and_dark_can_be_switched(site: str, episodes: dict[str, Path], opened: Open) -> None:
    page, _ = opened(address(site, episodes["cube"]), scheme="dark")
    paper = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(paper) == "rgb(23, 23, 27)"
    dark = page.evaluate("document.querySelector('.board').toDataURL()")
    page.get_by_label("light or dark").click()
    assert page.evaluate(paper) == "rgb(255, 255, 255)"
    assert page.evaluate("document.querySelector('.board').toDataURL()") != dark


def test_what_a_simulated_model_answered_says_so(site: str, episodes: dict[str, Path], opened: Open) -> None:
    page, _ = opened(address(site, episodes["cube"]))
    assert page.locator("header .badge").inner_text() == "simulated"
    page, _ = opened(address(site, episodes["transport"]))
    assert page.locator("header .badge").count() == 0


def test_an_export_opens_from_disk_without_network(episodes: dict[str, Path], opened: Open, tmp_path: Path) -> None:
    target = tmp_path / "an episode.html"
    target.write_text(exported_page(read_episode(episodes["cube"])))
    page, complaints = opened(f"{target.as_uri()}#t=12", offline=True)
    assert complaints == []
    assert page.evaluate("quorum.player.t") == 12
    assert page.locator("header .badge").inner_text() == "simulated"
    played = world_of(episodes["cube"])
    kept = [facts("cube", played) for _ in replay(read_trace(episodes["cube"]), played)]
    assert seen("cube", page.evaluate(PICTURE, 20)) == kept[20]
    page.locator("input[type=search]").fill("You are agent_1")
    page.locator('.results[data-found="You are agent_1"]').wait_for()
    call = page.locator(".results button", has_text="call").first
    call.click()
    page.locator(".reader details summary").nth(1).click()  # who one is stands in the second message
    assert "one of 3 agents" in page.locator(".reader details pre").nth(1).inner_text()


def test_an_export_of_the_same_run_is_the_same_file(episodes: dict[str, Path]) -> None:
    assert exported_page(read_episode(episodes["squeeze"])) == exported_page(read_episode(episodes["squeeze"]))
