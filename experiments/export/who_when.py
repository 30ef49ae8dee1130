"""A failed run as a case of Who&When (arXiv 2505.00212), without labels. The history has turns and events.

`quorum blame --import who-when` and the readers of other tools read it.
"""

from __future__ import annotations

from pathlib import Path

import orjson

from maeil.user_errors import UserError
from quorum.experiments.blame.transcript import Transcript
from quorum.experiments.export.episodes import Runs

FILES: tuple[str, ...] = ("who-when.json",)
_HEAD = ("turn", "step", "agent", "may")


def write(runs: Runs, folder: Path) -> None:
    """Write the file into a folder.

    Raises:
        UserError: there are several runs, the run has no trace, or texts are not to be exported.
    """
    if not runs.texts:
        raise UserError("--to who-when: a case is made of messages and plans", "Add --calls to export them.")
    episode, *others = runs.episodes()
    if others or episode.trace is None:
        raise UserError("--to who-when: a case is one run with a trace", "Give the folder of a single run.")
    history = []
    for entry in Transcript.of(episode.trace).entries:
        content = {key: value for key, value in entry.items() if key not in _HEAD} if "turn" in entry else entry
        text = orjson.dumps(content).decode() if content else ""
        turn = "turn" in entry
        name = entry["agent"] if turn else "environment"
        history.append({"content": text, "role": "assistant" if turn else "user", "name": name})
    labels = {"mistake_agent": "", "mistake_step": "", "mistake_reason": ""}
    question = "Reach all goals of the team within the step limit."
    case = {"is_correct": episode.row.outcome == "completed", "question": question, "question_ID": episode.row.name}
    (folder / FILES[0]).write_bytes(orjson.dumps({**case, "ground_truth": "", "history": history, **labels}))
