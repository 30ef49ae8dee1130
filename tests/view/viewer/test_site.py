"""A sweep exported as pages: opened from disk, in the limit of its size, and never over something else."""

from __future__ import annotations

from pathlib import Path

import pytest

from quorum.storage.outputs import Output
from quorum.view.viewer.command import export
from quorum_base.user_errors import UserError
from tests.view.viewer.conftest import Open


def write(sweep: Path, target: Path, most: int = 500) -> tuple[Path, list[str]]:
    reported: list[str] = []
    return export([sweep], Output(target, "--export"), most, reported.append), reported


def test_a_site_opens_from_disk_without_network(episodes: dict[str, Path], opened: Open, tmp_path: Path) -> None:
    sweep = episodes["cube"].parent
    front, reported = write(sweep, tmp_path / "pages")
    assert front == tmp_path / "pages" / "index.html"
    written = sum(path.stat().st_size for path in (tmp_path / "pages").rglob("*") if path.is_file())
    runs = sorted(path.name for path in sweep.iterdir() if path.is_dir())
    (said,) = reported
    assert said.startswith(f"{len(runs)} runs: about ")
    assert written <= int(said.split()[3]) << 20
    assert sorted(path.stem for path in (tmp_path / "pages" / "run").iterdir()) == runs
    page, complaints = opened(front.as_uri(), offline=True)
    rows = page.locator(".runs tbody tr a")
    assert sorted(rows.all_inner_texts()) == runs
    assert page.locator("input.pick").count() == 0
    page.get_by_role("link", name=episodes["cube"].name).click()
    page.wait_for_selector("html[data-ready=yes]")
    assert page.locator("h1").inner_text() == episodes["cube"].name
    page.get_by_role("link", name="runs").first.click()
    page.wait_for_selector(".runs tbody tr")
    assert page.url == front.as_uri()
    assert [line for line in complaints if not line.startswith((tmp_path / "pages").as_uri())] == []


def test_pages_load_only_files_next_to_them(episodes: dict[str, Path], tmp_path: Path) -> None:
    front, _ = write(episodes["squeeze"].parent, tmp_path / "pages")
    for page in (front, tmp_path / "pages" / "run" / f"{episodes['squeeze'].name}.html"):
        text = page.read_text()
        assert "http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'self';" in text
        head = text[: text.index("<body>")]
        assert "://" not in head
        assert text.count("<script defer src=") == 1


def test_a_site_too_large_or_in_the_way_of_something_is_refused(
    episodes: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep = episodes["cube"].parent
    with pytest.raises(UserError, match=r"take about \d+ MiB, and the limit is 1 MiB\nRaise it with --max-size"):
        write(sweep, tmp_path / "pages", most=1)
    monkeypatch.setattr("quorum.view.viewer.site._expected", lambda *_: 0)
    with pytest.raises(UserError, match="take more, and the limit is 0 MiB"):
        write(sweep, tmp_path / "pages", most=0)
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "note").write_text("mine")
    for force in (False, True):
        with pytest.raises(UserError, match=r"--export .*kept: "):
            export([sweep], Output(tmp_path / "kept", "--export", force), 500)
    (tmp_path / "kept" / "page.html").write_text("mine")
    with pytest.raises(UserError, match=r"page\.html: this already exists\nGive the name of a new folder"):
        export([sweep], Output(tmp_path / "kept" / "page.html", "--export"), 500)
    assert (tmp_path / "kept" / "page.html").read_text() == "mine"
    (tmp_path / "kept" / "page.html").unlink()
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]
    assert [path.name for path in (tmp_path / "kept").iterdir()] == ["note"]
