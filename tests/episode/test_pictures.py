"""An episode whose prompts show pictures: what is asked, what is kept, what is replayed, and what damage is found."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from maeil.trace import comparable
from quorum.agents.llm.pictures import read_png
from quorum.agents.llm.recording import unfolded
from quorum.agents.simulated.model import UNINFORMED, SimulatedModel, SimulatedSettings
from quorum.configuration.cell import Cell
from quorum.episode.episode_folder import EpisodeFolder
from quorum.episode.model_pool import ModelPool
from quorum.episode.prompt import Wanted
from quorum.episode.runner import run_cell, run_in_pool
from quorum.runs.recorded_prompt import recorded_prompt
from quorum.runs.verify import verify_run
from quorum.storage.run_files import DamagedFile, RunFiles, picture_file
from quorum.view.viewer.episode import read_episode
from quorum_base.user_errors import UserError
from tests.loopback import serve

CUBE = ("n=2", "agents=naive", "topology=chain", "max_steps=4")
CRAFTER = ("env=crafter_coop", "n=2", "agents=naive", "max_steps=4")


def run(out: Path, *words: str) -> Path:
    return run_cell(Cell.compose(words), out).folder


def calls(folder: Path) -> list[Mapping[str, Any]]:
    return list(unfolded((folder / "calls.jsonl").read_bytes().splitlines(keepends=True)))


def asked(folder: Path) -> list[Mapping[str, Any]]:
    return [call["request"]["messages"][-1] for call in calls(folder)]


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run(tmp_path_factory.mktemp("seen"), *CUBE, "env.observation=picture")


@pytest.mark.parametrize("words", [CUBE, CRAFTER])
def test_a_picture_stands_in_the_place_of_the_observation_or_beside_it(words: tuple[str, ...], tmp_path: Path) -> None:
    prompts = {form: asked(run(tmp_path, *words, f"env.observation={form}")) for form in ("text", "picture", "both")}
    for message in prompts["text"]:
        assert "<observation>" in message["content"]
        assert "pictures" not in message
    for message in prompts["picture"]:
        assert "<observation>" not in message["content"]
        assert "<turn>" in message["content"], "who is asked, and what, stays"
        assert "There is no block of data here: the picture of this message shows the observation" in message["content"]
        assert len(message["pictures"]) == 1
    first, with_both = prompts["text"][0]["content"], prompts["both"][0]["content"]
    block, _, rest = first.partition("</observation>\n")
    assert with_both.startswith(f"{block}</observation>\nThe picture of this message shows it, too. ")
    assert with_both.endswith(rest), "all other words are those of a prompt without a picture"


@pytest.mark.parametrize("words", [CUBE, CRAFTER])
def test_text_alone_is_named_as_before_there_were_pictures(words: tuple[str, ...]) -> None:
    cell = Cell.compose(words)
    assert cell.plain["env"]["observation"] == "text"
    assert "observation" not in cell.configuration.identity()["env"]
    assert Cell.compose([*words, "env.observation=both"]).hash != cell.hash


def test_each_picture_is_kept_once_by_the_name_that_requests_have(seen: Path) -> None:
    named = [picture for message in asked(seen) for picture in message["pictures"]]
    files = {file.stem for file in (seen / "pictures").iterdir()}
    assert files == {picture["hash"] for picture in named}
    assert len(files) < len(named), "agents that see the same share a picture"
    for picture in named:
        read = read_png((seen / picture_file(picture["hash"])).read_bytes())
        assert (read.width, read.height) == (picture["width"], picture["height"])
    assert {file.suffix for file in (seen / "pictures").iterdir()} == {".png"}, "nothing half-written stays"


def test_agents_of_the_open_world_see_their_own_part(tmp_path: Path) -> None:
    folder = run(tmp_path, *CRAFTER, "env.observation=picture")
    by_agent = {call["agent"]: call["request"]["messages"][-1]["pictures"][0]["hash"] for call in calls(folder)}
    assert len(set(by_agent.values())) == 2


def test_tokens_of_pictures_are_counted(tmp_path: Path) -> None:
    tokens = {}
    for form in ("text", "both"):
        records = calls(run(tmp_path, *CUBE, f"env.observation={form}"))
        tokens[form] = records[0]["reply"]["usage"]["prompt"]
    assert tokens["both"] - tokens["text"] > 765, "741 x 765 pixels take 765 tokens, and the words about them some"


def test_the_simulated_model_does_not_look_and_says_so(seen: Path, tmp_path: Path) -> None:
    assert {call["reply"]["model"] for call in calls(seen)} == {UNINFORMED}
    assert all(call["reply"]["simulated"] for call in calls(seen))
    both = run(tmp_path, *CUBE, "env.observation=both")
    assert {call["reply"]["model"] for call in calls(both)} == {"simulated"}


def test_a_replay_gives_the_same_bytes(seen: Path, tmp_path: Path) -> None:
    again = run(tmp_path, *CUBE, "env.observation=picture", "llm=replay", f"llm.run={seen}")
    assert comparable(again) == comparable(seen)
    kept = [sorted(file.name for file in (folder / "pictures").iterdir()) for folder in (seen, again)]
    assert kept[0] == kept[1]


def test_a_replay_whose_board_looks_otherwise_is_refused(seen: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"\[picture [0-9a-f]{64}\]"):
        run(tmp_path, *CUBE, "seed=1", "env.observation=picture", "llm=replay", f"llm.run={seen}")


async def test_over_http_the_same_is_asked_and_answered(
    seen: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-nothing")
    settings = Cell.compose(["agents=naive"]).configuration.llm.model_dump()
    brain = SimulatedModel(SimulatedSettings(**{name: settings[name] for name in SimulatedSettings.model_fields}))
    async with serve(brain) as addresses:
        pool = ModelPool()
        words = [
            *CUBE,
            "env.observation=picture",
            "llm=openai",
            "llm.model=simulated",
            f"llm.base_url={addresses.openai}",
        ]
        try:
            cell = Cell.compose([*words, "llm.cache=false"])
            result = await run_in_pool(cell, EpisodeFolder(tmp_path, cell.name), pool)
        finally:
            await pool.close()
    assert asked(result.folder) == asked(seen)
    over, direct = ([call["reply"] for call in calls(folder)] for folder in (result.folder, seen))
    assert [reply["text"] for reply in over] == [reply["text"] for reply in direct]
    assert [reply["usage"]["prompt"] for reply in over] == [reply["usage"]["prompt"] for reply in direct]


@pytest.mark.parametrize("harm", ["changed", "gone", "linked", "folder linked"])
def test_a_damaged_picture_is_found(harm: str, tmp_path: Path) -> None:
    folder = run(tmp_path, *CUBE, "env.observation=picture")
    assert verify_run(folder).problems == []
    picture = sorted((folder / "pictures").iterdir())[0]
    if harm == "changed":
        picture.write_bytes(picture.read_bytes()[:-1])
    elif harm == "gone":
        picture.unlink()
    elif harm == "linked":
        picture.rename(tmp_path / "other.png")
        picture.symlink_to(tmp_path / "other.png")
    else:
        (folder / "pictures").rename(tmp_path / "elsewhere")
        (folder / "pictures").symlink_to(tmp_path / "elsewhere")
    assert any(f"pictures/{picture.name}" in problem for problem in verify_run(folder).problems)


@pytest.mark.parametrize("name", ["../secret", "pictures/../../secret", "/etc/passwd", "other/file", "pictures/", ".."])
def test_no_name_leads_out_of_the_folder_of_a_run(name: str, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("x")
    (tmp_path / "run" / "pictures").mkdir(parents=True)
    with pytest.raises(DamagedFile, match="not the name of a file of a run"):
        RunFiles(tmp_path / "run").read(name, 100)


@pytest.mark.parametrize("name", ["", "a" * 63, "A" * 64, "../" + "a" * 61])
def test_what_is_no_hash_names_no_picture(name: str) -> None:
    with pytest.raises(ValueError, match="not the hash of a picture"):
        picture_file(name)


def test_pictures_are_for_their_user_alone(seen: Path) -> None:
    rights = {oct(os.stat(path).st_mode & 0o077) for path in [seen / "pictures", *(seen / "pictures").iterdir()]}
    assert rights == {"0o0"}


def test_a_recorded_prompt_has_its_picture(seen: Path) -> None:
    prompt = recorded_prompt(Wanted.read([f"at={seen}:0", "agent=1"]))
    digest = prompt.messages[-1].pictures[0].hash
    assert prompt.picture() == (seen / picture_file(digest)).read_bytes()
    assert f"[picture, 741 x 765 pixels: {digest}]" in prompt.text()
    assert prompt.to_json()["messages"][-1]["pictures"] == [{"hash": digest, "width": 741, "height": 765}]


def test_the_viewer_names_the_pictures_of_a_prompt_and_gives_their_bytes(seen: Path) -> None:
    episode = read_episode(seen)
    (digest,) = episode.calls.call(0)["messages"][-1]["pictures"]
    assert (
        hashlib.sha256(episode.calls.picture(digest)).digest()
        == hashlib.sha256((seen / picture_file(digest)).read_bytes()).digest()
    )
    with pytest.raises(ValueError, match="no such picture"):
        episode.calls.picture("0" * 64)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("env=transport env.observation=picture", "env.observation: there is no such key"),
        ("env=squeeze env.observation=both", "env.observation: there is no such key"),
        ("env.observation=photo", "env.observation: 'photo' is not allowed: it must be 'text', 'picture' or 'both'"),
        ("n=300 env.observation=picture", r"env\.observation: 300 x 300 cells cannot be read"),
        (
            "n=2 agents=llamac topology=centralized topology.leader=coordinator topology.rounds=3 env.observation=both",
            "env.observation=both: teams with roles plan from several observations",
        ),
    ],
)
def test_what_cannot_be_shown_is_refused(words: str, expected: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=expected):
        run(tmp_path, *words.split())
    assert list(tmp_path.iterdir()) == []
