"""Memory that outlives an episode: what a team takes along, the store of single runs, and a run from its folder."""

from __future__ import annotations

import json
import shutil
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from maeil.errors import ContractError
from maeil.trace import comparable, read_trace
from maeil.trace.events import PlanChange
from quorum.configuration.cell import Cell
from quorum.configuration.inputs import InputsChanged
from quorum.configuration.plugins import load_plugins
from quorum.configuration.schema import validate
from quorum.episode import team_memory
from quorum.episode.runner import Result, run_cell
from quorum.episode.team_memory import MemoryStore
from quorum.storage.memory_file import MEMORY, MEMORY_BEFORE, Memory, read_memory
from quorum.storage.run_files import DamagedFile
from quorum_base.digests import digest_file
from quorum_base.user_errors import UserError
from tests.conftest import PLUGINS


@pytest.fixture(scope="module")
def options(tmp_path_factory: pytest.TempPathFactory) -> Path:
    load_plugins(("walker", "counter"))
    folder = tmp_path_factory.mktemp("configs")
    for name in ("corridor", "counter"):
        shutil.copytree(PLUGINS / f"{name}_configs", folder, dirs_exist_ok=True)
    return folder


class Played:
    """Plays single episodes of counters in a corridor."""

    def __init__(self, out: Path, options: Path) -> None:
        self.out, self.options, self.store = out / "runs", options, out / "store"

    def cell(self, *words: str) -> Cell:
        usual = {"env": "corridor", "n": "2", "max_steps": "9", "agents": "counter"}
        given = dict(word.split("=", 1) for word in words)
        return Cell.compose([f"{key}={value}" for key, value in {**usual, **given}.items()], self.options)

    def __call__(self, *words: str) -> Result:
        return run_cell(self.cell(*words), self.out)

    def stored(self, *words: str) -> Result:
        return self(f"memory.store='{self.store}'", *words)


@pytest.fixture
def played(tmp_path: Path, options: Path) -> Played:
    return Played(tmp_path, options)


def reported(folder: Path) -> set[str]:
    """Return what the counters of a run said: how many episodes there were before, and what they drew."""
    return {event.rationale for event in read_trace(folder).of(PlanChange) if event.rationale}


def said_of_memory(folder: Path) -> Any:
    return json.loads((folder / "meta.json").read_text())["memory"]


def test_what_a_run_takes_along_stands_in_its_folder_with_its_digest_file(played: Played) -> None:
    folder = played().folder
    memory = read_memory(folder)
    assert memory is not None
    assert memory.memories["counters"]["episodes"] == 1
    assert said_of_memory(folder) == {"before": None, "after": memory.digest}
    assert not (folder / MEMORY_BEFORE).exists()


def test_minds_that_share_a_memory_are_asked_once_and_others_each(played: Played) -> None:
    memory = played("agents.shared=false").memory
    assert memory is not None
    assert list(memory.memories) == ["walker_0", "walker_1"]


def test_a_store_is_read_at_the_start_and_replaced_at_the_end(played: Played) -> None:
    first, second = played.stored(), played.stored()
    assert {line.partition(",")[0] for line in reported(second.folder)} == {"1 before"}
    stored = read_memory(played.store)
    assert stored == second.memory
    assert stored is not None
    assert stored.memories["counters"]["episodes"] == 2
    assert (second.folder / MEMORY_BEFORE).read_bytes() == (first.folder / MEMORY).read_bytes()
    assert said_of_memory(second.folder)["before"] == said_of_memory(first.folder)["after"]


def test_a_store_that_a_run_uses_is_closed_to_others_until_it_ends(played: Played) -> None:
    before = played.stored().memory
    with closing(MemoryStore(played.store, before.digest if before is not None else None)):
        with pytest.raises(UserError, match="another quorum run is running in this folder"):
            played.stored()
        with pytest.raises(UserError, match="another quorum run is running in this folder"):
            MemoryStore(played.store, None)
    with pytest.raises(InputsChanged):
        MemoryStore(played.store, None)
    assert played.stored().memory != before


def test_the_memory_of_a_store_is_part_of_the_name_and_its_place_is_not(played: Played, tmp_path: Path) -> None:
    plain, first, second = played(), played.stored(), played.stored()
    assert plain.cell.hash == first.cell.hash != second.cell.hash
    shutil.copytree(played.store, tmp_path / "other")
    other = played.cell(f"memory.store='{tmp_path / 'other'}'")
    assert other.hash == played.cell(f"memory.store='{played.store}'").hash
    assert str(played.store) not in (second.folder / "config.yaml").read_text()
    assert str(played.store) not in (second.folder / "meta.json").read_text()


def test_a_run_with_a_memory_can_be_repeated_from_its_folder_alone(played: Played, tmp_path: Path) -> None:
    played.stored()
    second = played.stored()
    again = tmp_path / "again"
    again.mkdir()
    shutil.copy(second.folder / MEMORY_BEFORE, again / MEMORY)
    repeated = played(f"memory.store='{again}'")
    assert repeated.cell.hash == second.cell.hash
    assert [*comparable(repeated.folder)] == [*comparable(second.folder)]
    assert digest_file(repeated.folder / MEMORY) == digest_file(second.folder / MEMORY)


def test_another_episode_has_the_same_board_and_other_draws(played: Played) -> None:
    none, zero, one = played(), played("episode=0"), played("episode=1")
    assert [*comparable(zero.folder)] == [*comparable(none.folder)]
    assert reported(zero.folder) != reported(one.folder)
    starts = [read_trace(result.folder).start for result in (zero, one)]
    assert starts[0] == starts[1]


def test_a_simulated_model_draws_again_in_another_episode(tmp_path: Path) -> None:
    words = ["n=2", "agents=naive", "llm.poor=0.9", "max_steps=3"]
    one, same, other = (
        run_cell(Cell.compose([*words, *more]), tmp_path).folder for more in ([], ["episode=0"], ["episode=3"])
    )
    assert [*comparable(one)] == [*comparable(same)]
    assert [*comparable(one)] != [*comparable(other)]


def test_a_later_episode_is_replayed_by_its_own_answers(tmp_path: Path) -> None:
    words = ["n=1", "agents=naive", "max_steps=2", "episode=2"]
    live = run_cell(Cell.compose(words), tmp_path).folder
    again = run_cell(Cell.compose([*words, "llm=replay", f"llm.run='{live}'"]), tmp_path).folder
    assert [*comparable(again)] == [*comparable(live)]


def test_without_keeping_each_episode_begins_with_none_and_leaves_none(played: Played) -> None:
    folder = played("memory.keep=false").folder
    assert not (folder / MEMORY).exists()
    assert "memory" not in json.loads((folder / "meta.json").read_text())


def test_cells_of_versions_before_keep_their_names(played: Played) -> None:
    usual = played.cell("agents=walker")
    identity = usual.configuration.identity()
    assert "episode" not in identity
    assert identity["memory"] == {"messages": 10}
    names = {played.cell("agents=walker", word).hash for word in ("episode=0", "memory.keep=true", "memory.keep=false")}
    assert names == {usual.hash}
    ours = {played.cell(*words).hash for words in ([], ["episode=1"], ["memory.keep=false"])}
    assert len(ours) == 3


def test_a_recorded_configuration_of_a_version_before_is_read(played: Played) -> None:
    cell = played.cell("agents=walker")
    old = json.loads(json.dumps(cell.plain))
    del old["episode"], old["memory"]["keep"], old["memory"]["store"]
    assert validate(old, recorded=True) == cell.configuration


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("agents=walker",), "memory.store: agents=walker keeps no memory for the next episode\nLeave it out, or "),
        (("memory.keep=false",), "memory.store: with memory.keep=false, there is nothing to store\n"),
    ],
)
def test_a_store_without_a_memory_is_refused(played: Played, words: tuple[str, ...], message: str) -> None:
    with pytest.raises(UserError) as caught:
        played.stored(*words)
    assert str(caught.value).startswith(message)
    assert not played.out.exists()


def damaged(store: Path, change: str) -> None:
    file = store / MEMORY
    if change == "a link":
        file.rename(store / "elsewhere")
        file.symlink_to(store / "elsewhere")
    elif change == "too large":
        file.write_bytes(b" " * (team_memory.LARGEST + 1))
    else:
        text = {
            "changed": file.read_text().replace('"episodes": 1', '"episodes": 7'),
            "no JSON": "{",
            "another file": '{"schema": 1}',
            "newer": file.read_text().replace('"schema": 1', '"schema": 2'),
            "deep": "[" * 100_000,
            "nested": '{"schema": 1, "sha256": "", "memories": {"a": ' + "[" * 400 + "]" * 400 + "}}",
        }
        file.write_text(text[change])


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("changed", "its SHA-256 differs from"),
        ("no JSON", "damaged: "),
        ("another file", "it is not a team's memory"),
        ("newer", "it has the schema 2"),
        ("deep", "damaged: "),
        ("nested", "damaged: "),
        ("a link", "it is a"),
        ("too large", "larger than 16 MiB"),
    ],
)
def test_a_damaged_store_is_refused_and_left_as_it_is(played: Played, change: str, reason: str) -> None:
    first = played.stored().folder
    damaged(played.store, change)
    before = digest_file(played.store / MEMORY)
    with pytest.raises((DamagedFile, UserError)) as caught:
        played.stored()
    assert reason in str(caught.value)
    assert str(played.store / MEMORY) in str(caught.value)
    assert digest_file(played.store / MEMORY) == before
    assert [entry.name for entry in played.out.iterdir()] == [first.name]


def test_the_memory_of_other_minds_is_refused(played: Played) -> None:
    played.stored("agents.shared=false", "n=3")
    with pytest.raises(UserError, match=r"it contains memories of 'walker_2', but this team remembers as 'walker_0'"):
        played.stored("agents.shared=false")


def test_what_the_minds_themselves_refuse_is_a_mistake_of_the_user(played: Played) -> None:
    played.store.mkdir()
    (played.store / MEMORY).write_bytes(Memory({"counters": [1]}).data())
    with pytest.raises(UserError, match="memory 'counters' is not one of a counter"):
        played.stored()


def test_a_failed_episode_leaves_the_store_as_it_is(played: Played) -> None:
    played.stored()
    before = digest_file(played.store / MEMORY)
    with pytest.raises(UserError, match="lost count"):
        played.stored("agents.fails_in=1")
    assert digest_file(played.store / MEMORY) == before


def test_a_store_that_was_replaced_meanwhile_is_not_overwritten(played: Played) -> None:
    played.stored()
    cell = played.cell(f"memory.store='{played.store}'")

    def another(_world: object) -> Any:
        (played.store / MEMORY).write_bytes(Memory({"counters": {"episodes": 40}}).data())
        return lambda _: None

    with pytest.raises(UserError, match="was replaced while the episode ran"):
        run_cell(cell, played.out, another)
    stored = read_memory(played.store)
    assert stored is not None
    assert stored.memories["counters"] == {"episodes": 40}


def test_the_folder_of_a_run_is_no_store(played: Played) -> None:
    folder = played().folder
    with pytest.raises(UserError, match="is the folder of a run"):
        played(f"memory.store='{folder}'")


class Mute:
    """Says that it remembers, and answers wrongly."""

    memory_name: Any = "mute"

    def __init__(self, answer: object) -> None:
        self._answer = answer

    async def think(self, _view: object) -> Any:
        raise NotImplementedError

    def remember(self) -> object:
        return self._answer


@pytest.mark.parametrize("answer", [{1: 2}, {1, 2}, object()])
def test_what_is_not_json_is_reported_with_the_function_that_gave_it(answer: object) -> None:
    with pytest.raises(ContractError, match=r"Mute.remember\(\) returned a value that cannot be written as JSON"):
        team_memory.remembered([Mute(answer)])


def test_a_memory_has_a_largest_size() -> None:
    with pytest.raises(ContractError, match="'mute': it makes the memory of the team larger than 16 MiB"):
        team_memory.remembered([Mute("x" * team_memory.LARGEST)])


def test_a_team_that_says_it_remembers_has_a_mind_that_does() -> None:
    with pytest.raises(ContractError, match=r"object does not implement maeil.Remembers"):
        team_memory.remembered([object()])  # type: ignore[list-item]
