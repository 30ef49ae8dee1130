"""Answers are kept on disk where that is possible: `llm.cache=auto` does without, and what is asked for is refused."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from quorum.agents.llm import cache as cache_module
from quorum.episode import model_pool
from tests.conftest import Quorum

WORDS = ("run", "agents=naive", "n=2", "max_steps=2", "llm.temperature=0", "llm.cache=auto")


def a_file_in_the_way(home: Path) -> None:
    home.write_text("no folder")


def a_closed_folder(home: Path) -> None:
    """A link that leads nowhere cannot be made a folder, also by root."""
    home.symlink_to("/proc/nowhere")


def a_folder_in_the_way(home: Path) -> None:
    (home / "quorum" / "replies.sqlite").mkdir(parents=True)


def another_database(home: Path) -> None:
    (home / "quorum").mkdir(parents=True)
    with sqlite3.connect(home / "quorum" / "replies.sqlite") as other:
        other.execute("create table mine (a)")


def a_damaged_store(home: Path) -> None:
    (home / "quorum").mkdir(parents=True)
    (home / "quorum" / "replies.sqlite").write_bytes(b"SQLite format 3\0" + os.urandom(52) + b"QUOR" + os.urandom(4000))


PLACES = (a_file_in_the_way, a_closed_folder, a_folder_in_the_way, another_database, a_damaged_store)


@pytest.mark.parametrize("make", PLACES)
def test_a_cache_that_nobody_asked_for_is_done_without_and_one_that_is_asked_for_is_refused(
    make: Callable[[Path], None], tmp_path: Path, quorum: Quorum
) -> None:
    home = tmp_path / "caches"
    make(home)
    ended = quorum(*WORDS, XDG_CACHE_HOME=str(home))
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr.count("answers are not kept on disk") == 1
    assert "llm.cache_path=FILE" in ended.stderr
    refused = quorum(*WORDS[:-1], "llm.cache=true", XDG_CACHE_HOME=str(home))
    assert refused.returncode == 2
    assert "llm.cache_path: " in refused.stderr
    assert "cannot be opened" in refused.stderr
    assert "Traceback" not in refused.stderr
    named = quorum(*WORDS, f"llm.cache_path={home}/quorum/replies.sqlite")
    assert named.returncode == 2
    assert f"llm.cache_path: {home}" in named.stderr


def test_a_user_without_a_home_has_no_cache_and_no_kept_kernels(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """As in a container that runs as an unknown user."""
    from quorum_base.compilation.cache import NoFolder, cache_folder

    def nobody() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", nobody)
    for name in ("XDG_CACHE_HOME", "NUMBA_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(OSError, match="no home folder: set HOME or XDG_CACHE_HOME"):
        model_pool.default_cache()
    with pytest.raises(NoFolder, match=r"no home folder: .*NUMBA_CACHE_DIR"):
        cache_folder()


def test_a_cache_that_another_process_holds_is_done_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quorum: Quorum
) -> None:
    file = tmp_path / "caches" / "quorum" / "replies.sqlite"
    file.parent.mkdir(parents=True)
    monkeypatch.setattr(cache_module, "BUSY_SECONDS", 0.1)
    holder = sqlite3.connect(file, isolation_level=None)
    holder.execute("begin exclusive")
    try:
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            cache_module.Cache(file)
    finally:
        holder.close()


def test_a_disk_that_is_full_costs_no_answer(tmp_path: Path) -> None:
    """`max_page_count` is how SQLite itself meets a full disk."""
    from quorum.agents.llm.protocol import Finish, Reply, Usage

    cache = cache_module.Cache(tmp_path / "replies.sqlite")
    pages = cache._file.execute("pragma page_count").fetchone()[0]
    cache._file.execute(f"pragma max_page_count = {pages}")
    reply = Reply("x" * 100_000, Finish.STOP, Usage(1, 1), 0.0, 0.1, "model")
    assert cache.put("key", reply) is reply
    assert cache.get("key") is None
    cache.close()
