"""The cost of the viewer: a large episode in a real browser, a tree of branches, and the size of an export.

python benchmarks/viewer.py [FOLDER]

The large episode is a real run of CUBE: 64 rule-based minds talk freely for 500 steps (`negotiator`, topology
`decentralized`), about 120,000 events. The export is of a run of 8 zero-shot agents in the open world for 200 steps,
with the simulated model. The tree is a run of 4 zero-shot agents and 20 of its branches. The script makes all of them
in FOLDER, or reuses those of an earlier call.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from maeil.trace import Instant, read_trace
from quorum.configuration.cell import Cell
from quorum.episode.runner import run_cell
from quorum.storage.outputs import Output
from quorum.view.viewer.command import export
from quorum.what_if.branch.change import Change
from quorum.what_if.branch.parent import Parent

LARGE = ["n=64", "env=cube", "agents=negotiator", "topology=decentralized", "max_steps=500"]
EXPORTED = ["n=8", "env=crafter_coop", "agents=naive", "topology=debate", "llm=simulated", "max_steps=200"]
BRANCHED = ["n=4", "env=cube", "agents=naive", "topology=debate", "max_steps=80"]
BRANCHES = 20
RUNS = 5
CHROMIUM = "/usr/bin/chromium"
FRAMES = """async (frames) => {
  const times = [];
  let last = await new Promise(requestAnimationFrame);
  for (let i = 0; i < frames; i++) {
    quorum.player.seek((i * 7) % (quorum.player.last + 1));
    const now = await new Promise(requestAnimationFrame);
    times.push(now - last);
    last = now;
  }
  return times;
}"""


def run(arguments: list[str], out: Path) -> Path:
    """Run a cell into a folder, unless it is there; return its own folder."""
    cell = Cell.compose(arguments)
    folder = out / cell.name
    return folder if folder.exists() else run_cell(cell, out).folder


def opening(browser: Browser, folder: Path) -> tuple[float, float, float, list[float]]:
    """Return seconds until the page is complete, from the command and from the navigation, and until its lanes appear.

    Last, the milliseconds of each frame while scrubbing.
    """
    begin = time.perf_counter()
    command = [sys.executable, "-m", "cli", "view", str(folder), "--no-browser"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        address = server.stdout.readline().strip()
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto("about:blank")
        asked = time.perf_counter()
        page.goto(address)
        page.wait_for_selector(".lanes", timeout=120_000)
        lanes = time.perf_counter()
        page.wait_for_selector("html[data-ready=yes]", timeout=120_000)
        done = time.perf_counter()
        frames = page.evaluate(FRAMES, 200)
        page.close()
    finally:
        server.terminate()
        server.wait()
    return done - begin, done - asked, lanes - asked, frames


def family(out: Path) -> Path:
    """Make a run and its branches, each with another mind for one agent after a fifth of it; return its folder."""
    first = run(BRANCHED, out)
    parent = Parent.open(first)
    for number in range(BRANCHES):
        place, agent = divmod(number, 4)
        change = Change((f"agents.members.agent_{agent}=heuristic",))
        planned = parent.branch(Instant(place * parent.episode.steps // 6), change)
        if not (out / planned.cell.name).exists():
            run_cell(planned.cell, out, start=planned.start)
    return first


def tree(browser: Browser, folder: Path) -> tuple[float, int, int, int]:
    """Return seconds from the key to the tree, bytes that the server sends for it, its rows, and its elements."""
    command = [sys.executable, "-m", "cli", "view", str(folder), "--no-browser"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(server.stdout.readline().strip())
        page.wait_for_selector("html[data-ready=yes]", timeout=120_000)
        with page.expect_response("**/family") as answer:
            begin = time.perf_counter()
            page.keyboard.press("b")
        page.wait_for_selector(".tree tbody tr")
        took, size = time.perf_counter() - begin, len(answer.value.body())
        rows, elements = (page.locator(selector).count() for selector in (".tree tbody tr", ".tree *"))
        page.close()
    finally:
        server.terminate()
        server.wait()
    return took, size, rows, elements


def main() -> None:
    """Measure and print."""
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(tempfile.mkdtemp())
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        first = family(out / "tree")
        trees = [tree(browser, first) for _ in range(RUNS)]
        browser.close()
    took, (_, size, rows, elements) = statistics.median(one[0] for one in trees), trees[0]
    print(f"tree of {rows} runs: median {took:.2f} s of {RUNS}, {size / 1e3:.1f} kB, {elements} elements")
    large = run(LARGE, out)
    print(f"large episode: {len(read_trace(large).events)} events")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        found = [opening(browser, large) for _ in range(RUNS)]
        browser.close()
    names = ("from the command to the complete page", "from the navigation to it", "from the navigation to its lanes")
    for index, name in enumerate(names):
        seconds = [one[index] for one in found]
        print(f"{name}: median {statistics.median(seconds):.2f} s, least {min(seconds):.2f} s of {RUNS}")
    medians = [statistics.median(one[3]) for one in found]
    late = [statistics.quantiles(one[3], n=20)[-1] for one in found]
    print(f"a frame while scrubbing: median {statistics.median(medians):.1f} ms, least {min(medians):.1f} ms; "
          f"95th percentile {statistics.median(late):.1f} ms, least {min(late):.1f} ms")  # fmt: skip
    written = export([run(EXPORTED, out)], Output(out / "export.html", "--export"))
    print(f"export of 8 agents x 200 steps: {written.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
