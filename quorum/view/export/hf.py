"""A folder for `datasets.load_dataset`: the Parquet files, and a card that describes them."""

from __future__ import annotations

import json
from pathlib import Path

from quorum.installation.version import __version__
from quorum.view.export import parquet
from quorum.view.export.episodes import Runs

FILES: tuple[str, ...] = ("README.md", *parquet.FILES)
TEXTS = False


def write(runs: Runs, folder: Path) -> None:
    """Write the files into a folder.

    Raises:
        UserError: as `parquet.write`.
    """
    parquet.write(runs, folder)
    (folder / FILES[0]).write_text(_card(runs), encoding="utf-8")


def _card(runs: Runs) -> str:
    names = [name.removesuffix(".parquet") for name in parquet.FILES]
    configs = "".join(f"  - config_name: {name}\n    data_files: {name}.parquet\n" for name in names)
    texts = "with the prompts and answers" if runs.texts else "without the texts of prompts, answers and messages"
    simulated = sum(row.simulated for row in runs.rows)
    notice = f"\nSimulated models answered in {simulated} of the runs.\n" if simulated else ""
    return (
        f"---\npretty_name: {json.dumps(runs.name)}\ntags: [quorum, multi-agent]\nconfigs:\n{configs}---\n\n"
        f"# Runs of a team of agents\n\n{len(runs.rows)} runs, exported by Quorum {__version__}, {texts}.\n{notice}\n"
        "- `runs`: a row for each run, with its configuration, outcome and metrics.\n"
        "- `events`: a row for each event of the traces; `data` is the event as JSON.\n"
        "- `calls`: a row for each request to a language model.\n\n"
        "`events.run` and `calls.run` are `runs.name`.\n"
    )
