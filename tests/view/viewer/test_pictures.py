"""The picture of a prompt on the page: above its words, from the server alone, and no other file by its address."""

from __future__ import annotations

import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

from quorum.configuration.cell import Cell
from quorum.episode.runner import run_cell
from tests.conftest import PATIENCE
from tests.view.viewer.conftest import Open, served


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    words = ["n=2", "agents=naive", "max_steps=3", "env.observation=picture"]
    return run_cell(Cell.compose(words), tmp_path_factory.mktemp("seen") / "runs").folder


@pytest.fixture(scope="module")
def page_address(seen: Path) -> Iterator[str]:
    with served(seen.parent) as address:
        yield address


def get(address: str) -> tuple[str, bytes]:
    with urllib.request.urlopen(address, timeout=PATIENCE) as answer:
        return answer.headers["content-type"], answer.read()


def test_a_picture_is_served_by_its_hash_and_nothing_else_is(seen: Path, page_address: str) -> None:
    run = f"{page_address}api/run/{seen.name}"
    get(f"{run}/episode")
    (digest,) = orjson.loads(get(f"{run}/call/0")[1])["messages"][-1]["pictures"]
    kind, png = get(f"{run}/picture/{digest}")
    assert (kind, png) == ("image/png", (seen / "pictures" / f"{digest}.png").read_bytes())
    for other in ("0" * 64, "..%2fmeta.json", f"{digest}.png", "trace.jsonl"):
        with pytest.raises(urllib.error.HTTPError, match="404"):
            get(f"{run}/picture/{other}")


def test_who_reads_a_prompt_sees_its_picture(seen: Path, page_address: str, opened: Open) -> None:
    page, complaints = opened(f"{page_address}run/{seen.name}")
    page.locator(".events button", has_text="thinks (plan)").first.click()
    page.locator(".reader details summary", has_text="prompt: user").first.click()
    image = page.locator(".reader img.seen").first
    image.wait_for()
    page.wait_for_function("document.querySelector('.reader img.seen').naturalWidth > 0")
    assert image.evaluate("image => [image.naturalWidth, image.naturalHeight]") == [741, 765]
    assert complaints == []
