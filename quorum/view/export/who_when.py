"""Runs as cases of Who&When (arXiv 2505.00212), one file each, without labels. The history has turns and events.

`quorum blame --import who-when` and the readers of other tools can read them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from quorum.runs.transcript import Transcript
from quorum.view.export.episodes import Episode, Runs
from quorum_base.user_errors import UserError

FILES: tuple[str, ...] = ()
TEXTS = False
_HEAD = ("turn", "step", "agent", "may")
_WRITTEN = ("plans", "says", "refused", "why")
"""Keys with texts of minds."""


def write(runs: Runs, folder: Path) -> None:
    """Write the files into a folder; runs without a turn are left out.

    Raises:
        UserError: a run cannot be read, or none has a turn.
    """
    for episode in runs.episodes():
        if history := _history(episode):
            (folder / f"{episode.row.name}.json").write_bytes(episode.json(_case(episode, history)))
        else:
            runs.remarks.append(f"{episode.row.name} is left out: it has no turns")
    if not any(folder.iterdir()):
        raise UserError("--to who-when: no run has any turns", "\n".join(runs.remarks))


def _case(episode: Episode, history: list[dict[str, str]]) -> dict[str, Any]:
    row = episode.row
    team = f"A team of {row.factors.get('n')} agents in the world {row.factors.get('env.name')}"
    return {
        "is_correct": row.outcome == "completed",
        "question": f"{team} was to reach all of its goals within {row.factors.get('max_steps')} steps.",
        "question_ID": row.name,
        "ground_truth": "",
        "history": history,
        **dict.fromkeys(("mistake_agent", "mistake_step", "mistake_reason"), ""),
    }


def _history(episode: Episode) -> list[dict[str, str]]:
    transcript = Transcript.of(episode.trace) if episode.trace is not None else None
    history = []
    for entry in transcript.entries if transcript is not None and transcript.turns else ():
        turn = "turn" in entry
        hidden = (*(_HEAD if turn else ()), *(() if episode.texts else _WRITTEN))
        shown = {key: value for key, value in entry.items() if key not in hidden}
        text = episode.json(shown).decode().rstrip() if shown else ""
        speaker = {"role": "assistant", "name": entry["agent"]} if turn else {"role": "user", "name": "environment"}
        history.append({"content": text, **speaker})
    return history
