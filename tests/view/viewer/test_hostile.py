"""Text that was meant to do harm is shown as text; traces that are damaged are shown as far as they go."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from maeil.trace import SCHEMA
from quorum.view.viewer.episode import read_episode
from quorum.view.viewer.page import exported_page
from tests.folders import unsealed
from tests.view.viewer.conftest import Open, served

SCRIPT = '</script><script>window.harmed = 1</script><img src=x onerror="window.harmed = 1"> & \' "'
TURNED = "abc\u202egnp.exe\u2066\u200f\u0000\u0007\u001b[31m\u009b end"
SHOWN = "\u27e8U+202E\u27e9gnp.exe\u27e8U+2066\u27e9\u27e8U+200F\u27e9\u2400\u2407\u241b[31m\u27e8U+009B\u27e9 end"
NAMES = [f"{SCRIPT} {TURNED}", "__proto__", "constructor"]
HUGE = "x" * 1_000_000 + "THE END"

Event = dict[str, Any]


def changed(run: Path, target: Path, change: Callable[[Event], None]) -> Path:
    """Copy a run and change its events and calls."""
    shutil.copytree(run, target)
    for name in ("trace.jsonl", "calls.jsonl"):
        if (target / name).exists():
            records = [json.loads(line) for line in (target / name).read_bytes().splitlines()]
            for record in records:
                change(record)
            (target / name).write_text("".join(json.dumps(record) + "\n" for record in records))
    return target


def poisoned(record: Event) -> None:
    match record.get("event"):
        case "message_sent":
            record["content"] = [SCRIPT, TURNED, HUGE][record["message"] % 3]
        case "plan" if record["status"] == "committed":
            record["rationale"] = SCRIPT + TURNED
            record["task"] = {"kind": SCRIPT, "target": TURNED}
        case "plan" | "action":
            record["reason"] = SCRIPT + TURNED
        case "episode_start":
            record["agents"] = NAMES
        case None:
            record["request"]["messages"][0]["content"] = SCRIPT + TURNED
            record["reply"]["text"] = HUGE + SCRIPT
            record["agent"] = {"agent_0": f"{SCRIPT} {TURNED}", "agent_1": "__proto__"}.get(
                record["agent"], "constructor"
            )


@pytest.fixture(scope="module")
def hostile(episodes: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile") / "<img src=x onerror=alert(1)>"
    return changed(episodes["cube"], folder / "run '\"><script>harm", poisoned)


WAYS = ["served", "exported"]


@pytest.mark.parametrize("way", WAYS)
def test_hostile_text_is_shown_as_text(hostile: Path, opened: Open, way: str, tmp_path: Path) -> None:
    if way == "served":
        with served(hostile) as address:
            look(opened, address)
    else:
        (tmp_path / "page.html").write_text(exported_page(read_episode(hostile)))
        look(opened, (tmp_path / "page.html").as_uri())


def look(opened: Open, address: str) -> None:
    page, complaints = opened(address)
    names = page.evaluate("document.querySelector('.agent b').textContent")
    assert SCRIPT in names
    messages = page.locator(".events li", has_text="message")
    for number in range(3):
        messages.nth(number).locator("button").click()
        text = page.locator(".reader pre").first.evaluate("node => node.textContent")
        if number == 0:
            assert text == SCRIPT
        elif number == 1:
            assert (
                "\u27e8U+202E\u27e9gnp.exe\u27e8U+2066\u27e9\u27e8U+200F\u27e9\u2400\u2407\u241b[31m\u27e8U+009B\u27e9"
                in text
            )
        else:
            assert len(text) < len(HUGE)
            page.get_by_text("show all 1,000,007 characters").click()
            assert page.locator(".reader pre").first.evaluate("node => node.textContent").endswith("THE END")
    page.locator(".events button", has_text="thinks (plan)").first.click()
    page.locator(".reader details summary").first.click()
    assert SCRIPT in page.locator(".reader details pre").first.evaluate("node => node.textContent")
    page.evaluate("quorum.player.toBreak(1)")
    page.evaluate("quorum.reader.openCall(0)")
    page.locator("input[type=search]").fill("<script>")
    page.locator('.results[data-found="<script>"] button').first.wait_for()
    page.get_by_label("configuration and metrics").click()
    assert page.evaluate("[window.harmed, document.querySelectorAll('img').length]") == [None, 0]
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    assert complaints == []


def test_a_hostile_sweep_is_shown_as_text(hostile: Path, opened: Open) -> None:
    with served(hostile.parent) as address:
        page, complaints = opened(address)
        link = page.locator(".runs a").first
        assert link.evaluate("node => node.textContent") == hostile.name
        link.click()
        page.wait_for_selector("html[data-page=episode][data-ready=yes]")
        assert page.locator("h1").evaluate("node => node.textContent") == hostile.name
        assert page.evaluate("window.harmed") is None
        assert complaints == []


def lines(run: Path) -> list[bytes]:
    return (run / "trace.jsonl").read_bytes().splitlines(keepends=True)


def damaged(run: Path, target: Path, data: bytes, name: str = "trace.jsonl") -> Path:
    unsealed(Path(shutil.copytree(run, target)))
    (target / "trace.jsonl").unlink()
    (target / name).write_bytes(data)
    return target


def with_start(run: Path, **changes: Any) -> bytes:
    first, *rest = lines(run)
    return json.dumps({**json.loads(first), **changes}).encode() + b"\n" + b"".join(rest)


def replaced(old: bytes, new: bytes, count: int = -1) -> Callable[[Path], bytes]:
    return lambda run: b"".join(lines(run)).replace(old, new, count)


STAGE_OF = b'"agent":%b,"from_stage"'
DREAM = b'{"seq":9,"t":1,"t_hat":1,"event":"dream","wall":1}\n'
CASES: dict[str, tuple[Callable[[Path], bytes], str, bool]] = {
    "cut off": (lambda run: b"".join(lines(run))[:-5_000], "The last line is cut off", True),
    "a broken line": (
        lambda run: b"".join([*lines(run)[:40], b"{nonsense\n", *lines(run)[40:]]),
        "line 41: JSON is malformed",
        True,
    ),
    "a wrong type": (
        replaced(STAGE_OF % b"0", STAGE_OF % b'"zero"', 1),
        "Expected `int`, got `str` - at `$.agent`",
        True,
    ),
    "an agent too many": (replaced(STAGE_OF % b"0", STAGE_OF % b"7", 1), "there is no such participant", True),
    "a lost step": (
        lambda run: b"".join(line for line in lines(run) if b'"t":9,' not in line),
        "Step 9 is missing",
        True,
    ),
    "newer": (
        lambda run: with_start(run, schema=SCHEMA + 1, more="?") + DREAM,
        f"newer version of Quorum (schema {SCHEMA + 1}",
        True,
    ),
    "another action": (
        replaced(b'"joint":[4', b'"joint":[3'),
        "seed and the actions do not give the recorded episode",
        True,
    ),
    "an impossible action": (replaced(b'"joint":[4', b'"joint":[77'), "The world is shown only up to step", True),
    "no start": (lambda run: b"".join(lines(run)[1:]), "The start of the episode cannot be read", False),
    "empty": (lambda _: b"", "trace.jsonl: it is empty", False),
    "noise": (lambda _: bytes(range(256)) * 50, "could not be read", False),
}


@pytest.mark.parametrize("case", CASES)
def test_a_damaged_trace_is_shown_as_far_as_it_goes_and_said_to_be(
    episodes: dict[str, Path], opened: Open, tmp_path: Path, case: str
) -> None:
    made, wanted, readable = CASES[case]
    folder = damaged(episodes["cube"], tmp_path / "run", made(episodes["cube"]))
    page, complaints = opened(write_export(folder, tmp_path))
    assert wanted in page.locator(".problems").inner_text()
    assert complaints == []
    if readable:
        assert page.locator(".agent").count() == 3
        assert page.evaluate("quorum.model.messages.length") > 0


def write_export(folder: Path, tmp_path: Path) -> str:
    target = tmp_path / "page.html"
    target.write_text(exported_page(read_episode(folder)))
    return target.as_uri()


def test_pictures_end_where_the_trace_no_longer_fits(episodes: dict[str, Path], tmp_path: Path) -> None:
    made, _, _ = CASES["a lost step"]
    film = orjson.loads(read_episode(damaged(episodes["cube"], tmp_path / "run", made(episodes["cube"]))).film.data(0))
    assert film["pictures"] is not None
    assert len(film["pictures"]["frames"]) == 10, "the starts of steps 0 to 9"


def test_compressed_traces_are_read_and_cut_ones_as_far_as_they_go(episodes: dict[str, Path], tmp_path: Path) -> None:
    whole = b"".join(lines(episodes["cube"]))
    packed = gzip.compress(whole)
    plain = orjson.loads(read_episode(episodes["cube"]).pages.data(0))
    assert (
        orjson.loads(read_episode(damaged(episodes["cube"], tmp_path / "a", packed, "trace.jsonl.gz")).pages.data(0))
        == plain
    )
    for name, data in (("b", packed[: len(packed) // 2]), ("c", packed[:2000] + b"\x00" * 2000), ("d", b"no gzip")):
        found = read_episode(damaged(episodes["cube"], tmp_path / name, data, "trace.jsonl.gz"))
        assert any("trace.jsonl.gz" in problem for problem in found.overview["problems"])
        # The last messages of a cut trace may have been read behind the cut.
        messages, others = (
            [{**m, "read": []} for m in page["messages"]] for page in (orjson.loads(found.pages.data(0)), plain)
        )
        assert name == "d" or messages == others[: len(messages)]


def test_a_run_without_its_other_files_is_shown_by_its_trace(
    episodes: dict[str, Path], opened: Open, tmp_path: Path
) -> None:
    folder = tmp_path / "bare"
    folder.mkdir()
    shutil.copy(episodes["cube"] / "trace.jsonl", folder)
    page, _ = opened(write_export(folder, tmp_path))
    text = page.locator(".problems").inner_text()
    assert "meta.json" in text
    assert "the world cannot be rebuilt" in text.lower()
    assert page.evaluate("quorum.model.steps") == 42


def test_a_number_of_any_size_is_shown(episodes: dict[str, Path], opened: Open, tmp_path: Path) -> None:
    huge = replaced(b'"message":0,', b'"message":1' + b"0" * 30 + b",", 1)
    folder = damaged(episodes["cube"], tmp_path / "run", huge(episodes["cube"]))
    with served(folder) as address:
        page, complaints = opened(address)
        assert page.evaluate("quorum.model.messages[0].message") == 1e30
        assert complaints == []


def test_a_configuration_that_is_nested_without_end_is_said_to_be_damaged(
    episodes: dict[str, Path], tmp_path: Path
) -> None:
    folder = damaged(episodes["cube"], tmp_path / "run", b"".join(lines(episodes["cube"])))
    (folder / "meta.json").unlink()
    (folder / "config.yaml").write_bytes(b"[" * 1_000_000)
    film = orjson.loads(read_episode(folder).film.data(0))
    assert film["pictures"] is None
    assert "config.yaml: damaged" in film["problems"][0]
