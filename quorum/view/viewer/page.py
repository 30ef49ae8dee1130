"""The page and its files, with all scripts bundled into one; served, or exported as a single file."""

from __future__ import annotations

import base64
import gzip
import hashlib
import re
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Literal

import msgspec
from jinja2 import Environment, PackageLoader, Template

from quorum.episode.call_ledger import CALLS
from quorum.runs.run_folder import RunFolder
from quorum.storage.run_files import MIB
from quorum.view.viewer.episode import Episode
from quorum.view.viewer.pages import Json
from quorum.view.viewer.runs import sweep_table
from quorum_base.user_errors import UserError

_FOLDER = files("quorum.view.viewer").joinpath("static")
_STYLES = ("style.css", "layout.css", "messages.css", "pair.css", "tree.css")
_TYPES = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
_BOUND = "quorum.js"
"""Bundle of all scripts: loading each separately takes a browser more than twice as long."""
STATIC = {name: _TYPES[name.rpartition(".")[2]] for name in (_BOUND, *(file.name for file in _FOLDER.iterdir()))}
"""The files of the page and their types."""
SITE_FILES = (_BOUND, *_STYLES, "icon.svg")
"""The files that the pages of a site share."""
SITE_POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; base-uri 'none'"
SITE_POLICY += "; form-action 'none'"
Kind = Literal["sweep", "episode", "pair"]
"""The kinds of pages."""
LONGEST_TRACE = 512 * MIB
"""Maximum bytes of an exported trace: the file has about a tenth of that, and is unpacked page by page."""
MOST_CALLS = 256 * MIB
"""Maximum bytes of an exported `calls.jsonl`: a browser unpacks it as a whole."""
_IMPORT = re.compile(r'^import \{([^}]*)\} from "\./(\w+)\.js";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const) (\w+))", re.MULTILINE)


@cache
def static_file(name: str) -> bytes:
    """Return a file of the page."""
    return bound().encode() if name == _BOUND else _FOLDER.joinpath(name).read_bytes()


def served_page(kind: Kind, name: str, title: str = "", up: str = "") -> str:
    """Return a page that requests its data from the server.

    Args:
        kind: kind of the page.
        name: name of its run, or the URL path of two selected runs; else its title.
        title: title, if it is not the name.
        up: relative path from its address to that of the front page.
    """
    return _template().render(kind=kind, run=name, up=up, title=title or name, styles=_STYLES, script=_BOUND)


def site_page(shown: Episode | Path) -> str:
    """Return a page of a sweep's site, which has its data, and shares scripts and styles with the others.

    Args:
        shown: a run, or the folder of the sweep.

    Raises:
        UserError: the run is too long for one file.
    """
    own = {"styles": _STYLES, "script": _BOUND, "policy": SITE_POLICY, "end": ".html"}
    if isinstance(shown, Path):
        table = _packed(msgspec.json.encode(sweep_table(shown)))
        return _template().render(kind="sweep", run="", up="", title=shown.name, data=[("sweep", table)], **own)
    _check_size(shown.folder)
    name = shown.overview["name"]
    return _template().render(kind="episode", run=name, up="../", title=name, data=_parts(shown, 0), **own)


def exported_page(*episodes: Episode, pair: Json | None = None) -> str:
    """Return the page of a run, or of two side by side, as one self-contained file.

    Args:
        episodes: one, or two.
        pair: data about the two.

    Raises:
        UserError: a run is too long for one file.
    """
    for episode in episodes:
        _check_size(episode.folder)
    style, script = "".join(static_file(name).decode() for name in _STYLES), bound()
    policy = f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; base-uri 'none'"
    policy += "; img-src data:; form-action 'none'"
    data = {} if pair is None else {"pair": _packed(msgspec.json.encode(pair))}
    for place, episode in enumerate(episodes):
        data |= _parts(episode, place)
    title = " | ".join(episode.overview["name"] for episode in episodes)
    kind: Kind = "episode" if pair is None else "pair"
    own = {"style": style, "script": script, "policy": policy, "data": data.items()}
    return _template().render(kind=kind, run=title, up="", title=title, **own)


@cache
def _template() -> Template:
    """Return the template of all pages, which escapes everything but our own styles, scripts and packed data."""
    loader = PackageLoader("quorum.view.viewer", ".")
    environment = Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    return environment.get_template("page.html.jinja")


def _parts(episode: Episode, place: int) -> Iterator[tuple[str, str]]:
    """Pack the data of a run, with its place among the runs of the page; the scripts unpack parts on demand."""
    calls = _shared(_call(episode, number) for number in range(len(episode.calls)))
    yield f"data-{place}", _packed(msgspec.json.encode({"episode": _at_its_time(episode.overview), "calls": calls}))
    for number in range(len(episode.pages)):
        yield f"page-{place}-{number}", _packed(episode.pages.data(number))
        yield f"film-{place}-{number}", _packed(episode.film.data(number))
        yield f"ways-{place}-{number}", _packed(episode.ways.data(number))


def _packed(data: bytes) -> str:
    return base64.b64encode(gzip.compress(data, mtime=0)).decode()


def _at_its_time(overview: Json) -> Json:
    """Return the overview of a run for a static file, which does not follow a run in progress."""
    if not overview["under_way"]:
        return overview
    problems = [*overview["problems"], "The run was under way when this file was written."]
    return {**overview, "problems": problems, "under_way": False}


def _check_size(folder: RunFolder) -> None:
    """Refuse a run that is too large for a browser as one file.

    Raises:
        UserError: it is too long.
    """
    for name, most in ((folder.trace_name(), LONGEST_TRACE), (CALLS, MOST_CALLS)):
        if name is not None and folder.files.size(name) > most:
            raise UserError(
                f"--export: {folder.path / name} has more than {most // MIB} MiB, too much for one file",
                f"Open the run instead, page by page: quorum view {folder.path}",
            )


def _call(episode: Episode, number: int) -> Json:
    """Return a call, or an error record if it cannot be read."""
    try:
        return episode.calls.call(number)
    except ValueError as error:
        where = episode.calls.places[number]
        why = f"its record in calls.jsonl cannot be read: {error}"
        return {"agent": where.agent, "t": where.t, "messages": [], "failure": {"kind": "Damaged", "message": why}}


def _shared(calls: Iterable[Json]) -> Json:
    """Store each text of a prompt once: most of a prompt is the same in every call."""
    texts: dict[str, int] = {}

    def shared(message: Json) -> Json:
        return {**message, "content": texts.setdefault(message["content"], len(texts))}

    found = [{**call, "messages": list(map(shared, call["messages"]))} for call in calls]
    return {"texts": list(texts), "calls": found}


@cache
def bound() -> str:
    """Bundle all scripts: each module becomes a function, with its imports taken from the results of earlier ones."""
    return '"use strict";\n{\n' + "".join(_functions("main", set())) + "}\n"


def _functions(name: str, written: set[str]) -> Iterator[str]:
    """Yield a script as a function, after its imported scripts that are not written yet."""
    written.add(name)
    source = static_file(f"{name}.js").decode()
    for _, imported in _IMPORT.findall(source):
        if imported not in written:
            yield from _functions(imported, written)
    body = _IMPORT.sub(lambda found: f"const {{{found[1]}}} = {found[2]};\n", source)
    exported = ", ".join(_EXPORT.findall(source))
    yield f"const {name} = (() => {{\n{_EXPORT.sub('', body)}\nreturn {{ {exported} }};\n}})();\n"


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
