"""`quorum export`: read the runs of a folder, and write them in the format of another tool."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any

from quorum.runs.run_folder import require_folder
from quorum.storage.files import folder_for, os_errors, sync
from quorum.storage.outputs import Output, require_writable
from quorum.view.export.episodes import Runs
from quorum.view.export.formats import Estimate, chosen
from quorum_base.inside import make_inside


def estimate(folder: Path, name: str, *, where: str, options: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return what an export would take, by name, if its options ask for that; see `export` for the arguments."""
    found = chosen(name, options)
    if not isinstance(found, Estimate):
        return None
    require_folder(folder)
    return found.estimate(Runs(folder, texts=True, where=where))


def export(
    folder: Path,
    name: str,
    out: Path | None,
    *,
    calls: bool,
    force: bool,
    where: str = "",
    options: Mapping[str, Any] = MappingProxyType({}),
) -> tuple[Path, Sequence[str]]:
    """Write the runs of a folder in a format; return the file or folder, and the runs that are left out.

    Args:
        folder: folder of a run, of a sweep, or of any runs.
        name: name of the format.
        out: file or folder to write; None: `export-NAME` in the folder, with the suffix of the format.
        calls: whether to include prompts, answers and other texts of models and minds.
        force: whether to replace existing files.
        where: a condition that the exported runs meet; empty for none.
        options: options of the format by parameter name.

    Raises:
        UserError: there is no such format, option or run, a run cannot be read, or nothing can be written there.
    """
    found = chosen(name, options)
    assert not isinstance(found, Estimate)
    require_folder(folder)
    several = len(found.FILES) != 1
    target = out if out is not None else folder / f"export-{name}{'' if several else Path(found.FILES[0]).suffix}"
    place = target if several else target.parent
    force = force or out is None
    if several and out is None and os.path.lexists(target):
        make_inside(folder, target.name)  # refuses a link
    if several:
        require_writable(target, f"--out {target}")

    def place_of(file: str) -> Output:
        return Output(target / file if several else target, "--out", force)

    for file in found.FILES if target.is_dir() or not several else ():
        place_of(file).check()
    runs = Runs(folder, texts=calls or found.TEXTS, where=where, out=out)
    made_first = folder_for(place) if several else nullcontext()
    with (
        os_errors(f"{target}: cannot be written", "Give another --out."),
        made_first,
        TemporaryDirectory(dir=place, prefix=".export-") as work,
    ):
        found.write(runs, Path(work))
        files = found.FILES or sorted(os.listdir(work))
        made = {Path(work, own): place_of(own) for own in files}
        for path in made if runs.texts else ():
            path.chmod(0o600)  # prompts are private
        sync(made)
        for output in made.values():
            output.check()
        for path, output in made.items():
            os.replace(path, output.target)
        for old in target.glob("*.json*") if several and out is None else ():
            if old.name not in files:
                old.unlink()  # the case of a run that no longer exists, or a side of an earlier split
    return target, runs.remarks
