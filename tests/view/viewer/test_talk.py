"""The messages of a large team can be read: who wrote to whom, in which words, and what came of it."""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from maeil.trace import read_trace
from maeil.trace.events import MessageSent, MessagesRead
from quorum.configuration.cell import Cell
from quorum.episode.runner import run_cell
from tests.view.viewer.conftest import Open, served
from tests.view.viewer.test_episode_page import until
from tests.view.viewer.test_hostile import SCRIPT, TURNED, changed

CELLS = """() => [...document.querySelectorAll('.matrix td[class^=shade]')].map(cell =>
  [...cell.dataset.pair.split(' ').map(Number), cell.textContent, cell.title])"""
SAID = """() => [...document.querySelectorAll('.said')].map(said =>
  [Number(said.dataset.message), ...['.words', '.readers'].map(part => said.querySelector(part)?.textContent)])"""
DIRECTED = [
    "n=4",
    "agents=llamac",
    "topology=centralized",
    "topology.leader=coordinator",
    "topology.rounds=3",
    "llm.temperature=0",
]


@pytest.fixture(scope="module")
def talk(sixteen: Path) -> Any:
    with served(sixteen) as address:
        yield address


@pytest.fixture(scope="module")
def directed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose coordinator writes joint plans."""
    return run_cell(Cell.compose([*DIRECTED, "max_steps=12"]), tmp_path_factory.mktemp("directed")).folder


@pytest.fixture(scope="module")
def carried(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose leader has feedback."""
    words = ["n=3", "env=cube_coop2", "agents=naive", "topology=centralized", "topology.feedback=constraints"]
    return run_cell(Cell.compose([*words, "max_steps=4"]), tmp_path_factory.mktemp("carried")).folder


def messages_of(folder: Path) -> list[Any]:
    return [stamped for stamped in read_trace(folder).events if isinstance(stamped.event, MessageSent)]


def test_the_table_has_the_counts_of_the_trace(talk: str, sixteen: Path, opened: Open) -> None:
    page, complaints = opened(talk)
    page.keyboard.press("m")
    trace = messages_of(sixteen)
    expected = Counter((m.event.sender, r) for m in trace for r in m.event.recipients)
    cells = page.evaluate(CELLS)
    assert {(sender, recipient): int(text) for sender, recipient, text, _ in cells} == expected
    read = sum(len(event.messages) for event in read_trace(sixteen).of(MessagesRead))
    assert f"{sum(expected.values())} sent, {read} read" in page.locator(".sum").inner_text()
    page.get_by_label("steps that are counted").select_option("this step")
    page.evaluate("quorum.player.seek(0)")
    first = Counter((m.event.sender, r) for m in trace if m.t == 0 for r in m.event.recipients)
    until(page, f"document.querySelectorAll('.matrix td[class^=shade]').length === {len(first)}")
    assert {(cell[0], cell[1]): int(cell[2]) for cell in page.evaluate(CELLS)} == first
    assert complaints == []


def test_a_message_is_shown_with_the_open_tasks_that_it_carries(carried: Path, opened: Open) -> None:
    directive = next(m.event for m in messages_of(carried) if m.event.tasks)
    with served(carried) as address:
        page, complaints = opened(address)
        page.keyboard.press("m")
        said = page.locator(f'.said[data-message="{directive.message}"]')
        assert f"with {len(directive.tasks)} open tasks, read by" in said.locator(".readers").inner_text()
        said.click()
        lines = page.locator(".reader .carried li").all_inner_texts()
        task = directive.tasks[0]
        assert len(lines) == len(directive.tasks)
        assert lines[0].startswith(f"{task['task']['kind']}:{task['task']['target']} needs {task['needs']}; more")
        assert "in place nobody" in " ".join(lines)
        assert complaints == []


def test_a_message_is_shown_with_what_it_claims_and_asks(carried: Path, opened: Open) -> None:
    directive = next(m.event for m in messages_of(carried) if m.event.asks)
    asked = "; ".join(
        f"asks agent_{ask['agent']} for {ask['task']['kind']} {ask['task']['target']}" for ask in directive.asks
    )
    with served(carried) as address:
        page, complaints = opened(address)
        page.keyboard.press("m")
        said = page.locator(f'.said[data-message="{directive.message}"]')
        assert said.locator(".claims").inner_text() == asked
        said.click()
        assert page.locator(".reader .claims").inner_text() == asked
        assert complaints == []


def test_the_table_counts_the_steps_in_view_and_one_kind(talk: str, sixteen: Path, opened: Open) -> None:
    page, _ = opened(talk)
    for _ in range(4):
        page.keyboard.press("+")
    last = page.evaluate("quorum.lanes.window()[1]")
    trace = messages_of(sixteen)
    assert last < max(m.t for m in trace), "the lanes are zoomed"
    page.keyboard.press("m")
    page.get_by_label("steps that are counted").select_option("steps in view")
    expected = Counter((m.event.sender, r) for m in trace if m.t <= last for r in m.event.recipients)
    assert {(cell[0], cell[1]): int(cell[2]) for cell in page.evaluate(CELLS)} == expected
    kinds = {m.event.what for m in trace}
    options = page.get_by_label("kind of messages").locator("option").all_inner_texts()
    assert set(options[2:]) == kinds


def test_messages_that_a_plan_came_before_are_marked(sixteen: Path, opened: Open, tmp_path: Path) -> None:
    """Message 0 is never read by agent_1; that one commits plans all the same."""

    def unread(record: dict[str, Any]) -> None:
        if record.get("event") == "messages_read" and record["agent"] == 1:
            record["messages"] = [10**6 if message == 0 else message for message in record["messages"]]

    with served(changed(sixteen, tmp_path / "unread", unread)) as address:
        page, _ = opened(address)
        page.keyboard.press("m")
        cell = page.locator('.matrix td[data-pair="0 1"]')
        assert "never" in (cell.get_attribute("class") or "")
        assert "1 ignored: a plan came first (0 read later, 1 never)" in (cell.get_attribute("title") or "")
        assert "a plan of agent_1 came before" in page.locator('.said[data-message="0"] .readers').inner_text()
        assert page.locator(".matrix-key").is_visible()


def test_the_transcript_has_the_words_in_their_order(talk: str, sixteen: Path, opened: Open) -> None:
    page, complaints = opened(talk)
    page.keyboard.press("m")
    page.get_by_label("kind of messages").select_option("messages")
    said = page.evaluate(SAID)
    assert [(number, words) for number, words, _ in said] == [
        (m.event.message, m.event.content) for m in messages_of(sixteen)
    ]
    assert {readers for *_, readers in said} == {"read by all 15"}
    heads = page.locator(".talk-head").all_inner_texts()
    assert [head.split(":")[0] for head in heads] == [
        f"Before step {t}" for t in sorted({m.t for m in messages_of(sixteen)})
    ]
    turns = Counter((m.t, m.event.sender, m.t_hat) for m in messages_of(sixteen))
    spoken = Counter((t, sender) for t, sender, _ in turns)
    rounds = sum(max(count for (at, _), count in spoken.items() if at == t) - 1 for t in {t for t, _ in spoken})
    assert page.locator(".round").count() == rounds > 0
    assert page.locator(".quiet").count() == 0
    page.get_by_label("kind of messages").select_option("")
    assert page.locator(".quiet", has_text="decide").count() > 0
    assert complaints == []


def test_the_transcript_moves_the_time_and_follows_it(talk: str, sixteen: Path, opened: Open) -> None:
    page, _ = opened(f"{talk}#t=0")
    page.keyboard.press("m")
    last = messages_of(sixteen)[-1]
    page.locator(f'.said[data-message="{last.event.message}"]').click()
    assert page.evaluate("quorum.player.t") == last.t
    assert last.event.content in page.locator(".reader pre").inner_text()
    page.evaluate("quorum.player.seek(0)")
    until(page, "document.querySelector('.said.here')?.dataset.message === '0'")
    there = "(() => { const box = document.querySelector('.transcript').getBoundingClientRect();"
    there += " return [...document.querySelectorAll('.here')].some(row => { const own = row.getBoundingClientRect();"
    there += " return own.top >= box.top - 1 && own.top < box.bottom; }); })()"
    until(page, there)


def test_a_cell_and_an_agent_choose_what_is_read(talk: str, sixteen: Path, opened: Open) -> None:
    page, _ = opened(talk)
    page.keyboard.press("m")
    trace = messages_of(sixteen)
    page.locator('.matrix td[data-pair="2 5"]').click()
    assert [row[0] for row in page.evaluate(SAID)] == [m.event.message for m in trace if m.event.sender == 2]
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert [row[0] for row in page.evaluate(SAID)] == [m.event.message for m in trace if m.event.sender == 3]
    page.get_by_label("show all messages again").click()
    assert len(page.evaluate(SAID)) == len(trace)
    page.get_by_label("messages of an agent").select_option("7")
    assert page.locator(".agent[aria-pressed=true]").inner_text().startswith("agent_7")
    page.get_by_label("kind of messages").select_option("")
    page.locator(".agent").nth(7).click()
    assert page.evaluate("quorum.talk.transcript.filter.agent") == -1


def test_a_joint_plan_is_said_in_words(directed: Path, opened: Open) -> None:
    message = messages_of(directed)[0].event
    parts = json.loads(message.content)["suggestions"]
    with served(directed) as address:
        page, complaints = opened(address)
        page.keyboard.press("m")
        lines = page.locator(f'.said[data-message="{message.message}"] .plan-words li')
        lines.first.wait_for()
        reported = lines.all_inner_texts()
        block = parts["agent_0"]["actions"][-1]["block"]
        partners = [name for name, part in parts.items() if part["actions"][-1]["block"] == block]
        assert len(partners) > 1
        words = f"{', '.join(partners[:-1])} and {partners[-1]}: go to the left face of block {block}"
        assert any(line.startswith(words) for line in reported), reported
        assert sum(line.count("agent_") for line in reported) == len(parts)
        page.locator(f'.said[data-message="{message.message}"]').click()
        assert page.locator(".reader .plan-words li").all_inner_texts() == reported
        assert message.content in page.locator(".reader pre").inner_text()
        assert complaints == []


@pytest.mark.parametrize(
    ("action", "words"),
    [
        ({"action": "push_block", "block": 3, "steps": 1, "timeout": None}, "push block 3 by 1 cell"),
        ({"action": "push_block", "block": 3, "steps": 2, "timeout": None}, "push block 3 by 2 cells"),
        ({"action": "push_block", "block": 3}, "push block 3"),
        ({"action": "open_door", "door": 4, "speed": "low", "until": None}, "open door 4, speed low"),
        ({"action": "give", "item": "item_axe", "to": [1, 2]}, "give item_axe, to [1,2]"),
        ({"action": "<b>", "x": "<i>"}, "<b> x <i>"),
        ({}, "?"),
    ],
)
def test_an_action_is_said_as_its_world_says_it(talk: str, opened: Open, action: dict[str, Any], words: str) -> None:
    page, _ = opened(talk)
    script = "async action => (await import(new URL('static/plan_words.js', document.baseURI)))"
    script += ".actionWords(action, quorum.model.phrases)"
    assert page.evaluate(script, action) == words


def test_hostile_words_stay_words(directed: Path, opened: Open, tmp_path: Path) -> None:
    poison = json.dumps({"suggestions": {SCRIPT: {"actions": [{"action": TURNED, "x": SCRIPT}]}}})

    def poisoned(record: dict[str, Any]) -> None:
        if record.get("event") == "message_sent":
            record["content"] = poison if record["message"] % 2 == 0 else SCRIPT + TURNED
            record["what"] = SCRIPT

    with served(changed(directed, tmp_path / "poisoned", poisoned)) as address:
        page, complaints = opened(address)
        page.keyboard.press("m")
        assert SCRIPT in page.locator(".said").first.inner_text()
        assert page.locator(".said").first.locator(".plan-words").count() == 1
        assert page.evaluate("window.harmed") is None
        assert page.locator(".talk img, .talk script").count() == 0
        assert complaints == []


def test_the_lane_of_tokens_adds_up_to_the_metrics(talk: str, opened: Open) -> None:
    page, _ = opened(talk)
    page.evaluate("document.querySelector('.lanes').scrollTop = 1e6")
    until(page, "quorum.lanes.hits.some(hit => hit[4] === 'usage')")
    sums = page.evaluate("""() => Object.fromEntries(['prompt', 'completion', 'usd', 'simulated'].map(name =>
      [name, quorum.lanes.hits.filter(hit => hit[4] === 'usage').reduce((sum, hit) => sum + hit[5][name], 0)]))""")
    metrics = page.evaluate("quorum.plain.metrics")
    for name, metric in (("prompt", "prompt_tokens"), ("completion", "completion_tokens"), ("usd", "usd")):
        assert sums[name] == pytest.approx(metrics[f"model.{metric}"]), name
    assert sums["simulated"] == metrics["model.answers"]
    x0, y0, x1, y1 = page.evaluate("quorum.lanes.hits.find(hit => hit[4] === 'usage').slice(0, 4)")
    page.locator(".lanes").click(position={"x": (x0 + x1) / 2, "y": (y0 + y1) / 2})
    assert page.locator(".reader h2").inner_text().startswith("tokens and money")
    assert page.locator(".reader li", has_text="simulated").count() >= 16


def test_the_head_can_be_read_at_1000_and_at_390(talk: str, opened: Open) -> None:
    """Nothing lies over anything else, and no word is cut."""
    page, _ = opened(talk)
    for width in (1000, 390):
        page.set_viewport_size({"width": width, "height": 800})
        boxes = page.evaluate("""() => [...document.querySelectorAll(
          '.episode-head :is(h1, .badge, button, input, .facts span)')].map(node => {
            const box = node.getBoundingClientRect();
            return { name: node.textContent || node.ariaLabel, box: [box.left, box.top, box.right, box.bottom],
              cut: node.scrollWidth > node.clientWidth + 1 && node.tagName === 'H1' };
          })""")
        assert len(boxes) >= 11
        for found in boxes:
            left, _, right, _ = found["box"]
            assert 0 <= left < right <= width, (width, found)
            assert not found["cut"], (width, found)
        for one, other in combinations(boxes, 2):
            a, b = one["box"], other["box"]
            apart = a[2] <= b[0] + 0.5 or b[2] <= a[0] + 0.5 or a[3] <= b[1] + 0.5 or b[3] <= a[1] + 0.5
            assert apart, (width, one, other)


@pytest.mark.parametrize("view", ["lanes", "messages"])
def test_nothing_is_beyond_the_width_at_390(talk: str, opened: Open, view: str) -> None:
    page, _ = opened(talk)
    page.set_viewport_size({"width": 390, "height": 844})
    page.locator(f"button[data-view={view}]").click()
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    beyond = page.evaluate("""() => [...document.body.querySelectorAll('*')].filter(node => {
      const box = node.getBoundingClientRect();
      if (!box.width || box.right <= 390.5) return false;
      for (let up = node.parentElement; up; up = up.parentElement)
        if (['auto', 'scroll', 'hidden'].includes(getComputedStyle(up).overflowX)) return false;
      return true;
    }).map(node => node.outerHTML.slice(0, 80))""")
    assert beyond == []
    for part in (".board", ".lanes" if view == "lanes" else ".transcript", ".now", ".reader", ".player"):
        box = page.locator(part).bounding_box()
        assert box is not None, part
        assert box["width"] > 330, part
    small = page.evaluate("""() => [...document.querySelectorAll('.player button, .controls button, .views button')]
      .map(node => node.getBoundingClientRect()).filter(box => box.width < 36 || box.height < 36).length""")
    assert small == 0, "a finger hits them"


def test_no_half_of_the_page_is_empty(talk: str, opened: Open) -> None:
    """Before anything is clicked the reader says what the episode was; a world without a drawing takes no room."""
    page, _ = opened(talk)
    summary = page.locator(".reader .summary").inner_text()
    metrics = page.evaluate("quorum.plain.metrics")
    assert f"{metrics['model.prompt_tokens']:,} tokens in" in summary
    assert "450 sent, 450 read" in summary
    page.evaluate("""() => { const page = quorum; page.world.film = null;
      document.querySelector('.board-box').classList.add('none');
      document.querySelector('.board-box').replaceChildren('The world is not drawn; see above.'); }""")
    box = page.locator(".board-box").bounding_box()
    assert box is not None
    assert box["height"] < 60


def test_a_step_without_events_leads_to_those_before_and_after(talk: str, opened: Open) -> None:
    page, _ = opened(talk)
    quiet = page.evaluate("[...Array(20).keys()].find(t => t > 0 && !quorum.model.eventsAt(t).length)")
    times = page.evaluate("quorum.model.events.map(event => event.t)")
    page.evaluate("t => quorum.player.seek(t)", quiet)
    page.locator(".now h2", has_text=f"At t = {quiet}: no events").wait_for()
    before, after = max(t for t in times if t < quiet), min(t for t in times if t > quiet)
    assert f"at t = {before}:" in page.locator(".events li").first.inner_text()
    page.locator(".events button", has_text=f"at t = {after}:").click()
    assert page.evaluate("quorum.player.t") == after


COLOURS = """() => {
  const probe = document.body.appendChild(document.createElement('i'));
  const of = names => names.map(name => {
    probe.style.color = `var(--${name})`;
    return [name, getComputedStyle(probe).color];
  });
  return [of(['stage-r', 'stage-w', 'stage-x', 'stage-i']), of(['ok', 'bad', 'late', 'cut', 'running']),
    of(['met-0', 'met-1', 'met-2', 'met-3'])];
}"""
TOLD_APART = 20
"""Distance in CIELAB; 2 can just be seen side by side."""


def lab(colour: str) -> tuple[float, float, float]:
    """CIELAB of `rgb(r, g, b)`, by its standard formula for the white of D65."""
    r, g, b = (int(part) / 255 for part in re.findall(r"\d+", colour))
    r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (r, g, b))
    x = (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.95047
    y = 0.2126 * r + 0.7152 * g + 0.0722 * b
    z = (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.08883
    fx, fy, fz = (v ** (1 / 3) if v > 0.008856 else 7.787 * v + 16 / 116 for v in (x, y, z))
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_stages_outcomes_and_constraints_share_no_colour(talk: str, opened: Open, scheme: str) -> None:
    page, _ = opened(talk, scheme=scheme)
    for one, other in combinations(page.evaluate(COLOURS), 2):
        for name, colour in one:
            for against, second in other:
                distance = sum((a - b) ** 2 for a, b in zip(lab(colour), lab(second), strict=True)) ** 0.5
                assert distance >= TOLD_APART, (scheme, name, against, distance)
