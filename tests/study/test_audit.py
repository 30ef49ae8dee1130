"""The prompts of control arms differ from the treatment's in message bytes alone, and the audit sees what else does."""

from __future__ import annotations

from pathlib import Path

import pytest

from quorum.agents.llm.protocol import ChatMessage, ChatRole, Origin, Request, Sampling
from quorum.study.audit import ControlAudit, audit_controls, without_messages
from quorum_base.user_errors import UserError
from tests.recorded import recorded_run
from tests.study.cells import ARMS, TEAMS, TOPOLOGIES, WORLDS, donors_of, treatment


def audited(world: str, team: str, tmp_path: Path, steps: int, seed: int = 8) -> list[ControlAudit]:
    run = recorded_run(*treatment(world, team, f"max_steps={steps}", seed=seed))
    donors = donors_of(treatment(world, team, f"max_steps={steps}", seed=seed + 100), tmp_path)
    return list(audit_controls(run, ARMS, donors))


def prompt(text: str, role: str = "") -> str:
    message = ChatMessage(ChatRole.USER, text)
    return without_messages(Request((message,), None, Sampling(None, 1), origin=Origin("agent_0", 0, role)))


@pytest.mark.parametrize(
    ("text", "role", "left"),
    [
        ("# New messages\n<unread>\n[1]\n</unread>\n\n# Turn\n<turn>\n2\n</turn>", "", "# Turn\n<turn>\n2\n</turn>"),
        ("# Know\n<memory>\n[1]\n</memory>\n<turn>\n2\n</turn>", "leader", "# Know\n<turn>\n2\n</turn>"),
        ("# Tasks\nwords\n<constraints>\n[1]\n</constraints>\n# Go\nnow", "", "# Go\nnow"),
        ("# Said\n<dialogue>\n[1]\n</dialogue>\n\n# Go\nnow", "talker", "# Go\nnow"),
        ("# Said\nNothing yet.\n\n# Go\nnow", "talker", "# Go\nnow"),
        ("# Past\n<memory>\n[1]\n</memory>", "explorer", "# Past\n<memory>\n[1]\n</memory>"),
        ('past done\n@3 agent_1 ask "@"\nnew @4 agent_1 ask "a"\nopen {"a":1}\na of b', "", "past done\na of b"),
    ],
)
def test_message_bytes_are_blocks_and_sections_that_hold_nothing_else(text: str, role: str, left: str) -> None:
    assert prompt(text, role) == left


def test_the_prompts_of_all_arms_are_equal_but_for_message_bytes(tmp_path: Path) -> None:
    found = audited("cube", "naive debate", tmp_path, steps=3)
    assert [audit.arm for audit in found] == list(ARMS)
    for audit in found:
        assert audit.holds, audit.difference
        assert audit.calls
        assert audit.treatment == audit.control
        assert audit.difference == ""
    assert all(audit.altered for audit in found if audit.arm in ("mute", "null"))


def test_calls_that_are_made_only_when_something_is_read_are_missing(tmp_path: Path) -> None:
    """A reviewer of HMAS-2 that finds no part of a joint plan is not asked about it."""
    found = {audit.arm: audit for audit in audited("transport", "hmas2", tmp_path, steps=2)}
    mute = found["mute"]
    assert not mute.holds
    assert mute.equal + mute.missing == mute.calls
    assert mute.missing > 0
    assert mute.treatment != mute.control
    assert "agent_0, treatment" in mute.difference


def test_words_beyond_the_messages_are_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Here a template says something else when there is mail."""
    own = tmp_path / "templates"
    own.mkdir()
    shown = "{% if blocks.unread is defined %}You have mail.{% endif %}\n\n{{ blocks.observation }}\n{{ blocks.turn }}"
    (own / "turn.jinja").write_text(shown)
    run = recorded_run(*treatment("cube", "naive debate", "max_steps=2", f"prompts.folder={own}"))
    (mute,) = audit_controls(run, ["mute"])
    assert not mute.holds
    assert "-You have mail." in mute.difference


def test_a_run_that_asks_no_model_is_refused() -> None:
    with pytest.raises(UserError, match="cannot be compared"):
        audit_controls(recorded_run("agents=idle", "n=2", "max_steps=2"), ["mute"])


@pytest.mark.soak
def test_100_per_cent_of_5000_calls_in_four_worlds_and_five_topologies(tmp_path: Path) -> None:
    """Counted are the calls of the arms, each compared with that of the treatment."""
    teams = [f"naive {name}" for name in TOPOLOGIES] + ["naive feedback", "cmas", "dmas"]
    calls, altered, seed = 0, 0, 0
    seen: set[tuple[str, str]] = set()
    while calls < 5_000 or len(seen) < len(WORLDS) * len(teams):
        seed += 1
        for world in WORLDS:
            for team in teams:
                for audit in audited(world, team, tmp_path, steps=12, seed=seed):
                    assert audit.holds, f"{world} {team} {audit.arm}: {audit.difference}"
                    calls, altered = calls + audit.calls, altered + audit.altered
                seen.add((world, team))
    assert set(TEAMS) > set(teams)
    assert calls >= 5_000
    assert altered >= calls / 2, "message bytes do differ"
