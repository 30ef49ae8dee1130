"""`quorum export`: read the runs of a folder, and write them in the format of another tool."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

from quorum.runs.run_folder import require_folder
from quorum.storage.files import folder_for, os_errors, sync
from quorum.storage.outputs import Output, require_writable
from quorum.view.export import hf, inspect_log, otlp, parquet, who_when
from quorum.view.export.episodes import Runs
from quorum_base.inside import make_inside
from quorum_base.user_errors import UserError, choices_hint


class Format(Protocol):
    """A format of another tool: a module of this package."""

    FILES: tuple[str, ...]
    """Names of its files; empty: one file for each run. Several files are written into a separate folder."""

    def write(self, runs: Runs, folder: Path) -> None:
        """Write the files into an empty folder."""


FORMATS: Mapping[str, Format] = {
    "parquet": parquet,
    "inspect": inspect_log,
    "hf": hf,
    "otlp": otlp,
    "who-when": who_when,
}


def export(folder: Path, name: str, out: Path | None, *, calls: bool, force: bool) -> tuple[Path, Sequence[str]]:
    """Write the runs of a folder in a format; return the file or folder, and the runs that are left out.

    Args:
        folder: folder of a run, of a sweep, or of any runs.
        name: name of the format.
        out: file or folder to write; None: `export-NAME` in the folder, with the suffix of the format.
        calls: whether to include prompts, answers and other texts of models and minds.
        force: whether to replace existing files.

    Raises:
        UserError: there is no such format or run, a run cannot be read, or nothing can be written there.
    """
    if name not in FORMATS:
        raise UserError(f"--to {name}: there is no such format", choices_hint(name, "Formats", FORMATS))
    chosen = FORMATS[name]
    require_folder(folder)
    several = len(chosen.FILES) != 1
    target = out if out is not None else folder / f"export-{name}{'' if several else Path(chosen.FILES[0]).suffix}"
    place = target if several else target.parent
    force = force or out is None
    if several and out is None and os.path.lexists(target):
        make_inside(folder, target.name)  # refuses a link
    if several:
        require_writable(target, f"--out {target}")

    def place_of(file: str) -> Output:
        return Output(target / file if several else target, "--out", force)

    for file in chosen.FILES if target.is_dir() or not several else ():
        place_of(file).check()
    runs = Runs(folder, texts=calls)
    made_first = folder_for(place) if several else nullcontext()
    with (
        os_errors(f"{target}: cannot be written", "Give another --out."),
        made_first,
        TemporaryDirectory(dir=place, prefix=".export-") as work,
    ):
        chosen.write(runs, Path(work))
        files = chosen.FILES or sorted(os.listdir(work))
        made = {Path(work, own): place_of(own) for own in files}
        for path in made if calls else ():
            path.chmod(0o600)  # prompts are private
        sync(made)
        for output in made.values():
            output.check()
        for path, output in made.items():
            os.replace(path, output.target)
        for old in () if chosen.FILES or out is not None else target.glob("*.json"):
            if old.name not in files:
                old.unlink()  # the case of a run that no longer exists
    return target, runs.remarks
