"""A hook of MkDocs: the site has the pages of the recorded real result, and the guide links to them."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from mkdocs.structure.files import File, Files

from quorum.runs.archives import unpacked
from quorum.storage.outputs import Output
from quorum.view.viewer.command import export

SWEEP = Path(__file__).resolve().parents[1] / "examples" / "students.zip"
FOLDER = "students"
"""Folder of the pages in the site."""


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that `quorum view SWEEP --export FOLDER` writes."""
    for name, data in _pages(SWEEP).items():
        files.append(File.generated(config, f"{FOLDER}/{name}", content=data))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Link to the pages instead of the archive, which is what exists where GitHub shows the guide."""
    return markdown.replace(f"](../examples/{SWEEP.name})", f"]({FOLDER}/index.html)")


@cache
def _pages(sweep: Path) -> dict[str, bytes]:
    """Return the files by name; `mkdocs serve` builds the site many times, and the archive stays as it is."""
    with TemporaryDirectory() as work, unpacked([sweep]) as places:
        folder = export(places, Output(Path(work, FOLDER), "--export"), most=100).parent
        return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
