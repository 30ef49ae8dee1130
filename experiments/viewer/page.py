"""The page and its files, with all scripts bound into one; served, or exported as a single file."""

from __future__ import annotations

import base64
import gzip
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Literal

import msgspec
from markupsafe import Markup, escape

from maeil.user_errors import UserError
from quorum.experiments.common.run_files import MIB
from quorum.experiments.episode.call_books import CALLS
from quorum.experiments.results.run_folder import RunFolder
from quorum.experiments.viewer.episode import Episode
from quorum.experiments.viewer.pages import Json

_MODULES = (
    "text.js",
    "dom.js",
    "theme.js",
    "sources.js",
    "order.js",
    "axis.js",
    "film.js",
    "kinds.js",
    "looks.js",
    "way_film.js",
    "ways.js",
    "board.js",
    "usage.js",
    "plan_words.js",
    "plan_lines.js",
    "why.js",
    "repairs.js",
    "findings.js",
    "failures.js",
    "verdict.js",
    "model.js",
    "pages.js",
    "picks.js",
    "graph.js",
    "tree.js",
    "command.js",
    "strokes.js",
    "lane_rows.js",
    "lanes.js",
    "traffic.js",
    "overview.js",
    "reader.js",
    "search.js",
    "player.js",
    "keys.js",
    "legend.js",
    "world.js",
    "matrix.js",
    "transcript.js",
    "talk.js",
    "header.js",
    "step_events.js",
    "follower.js",
    "episode.js",
    "seeds.js",
    "sweep.js",
    "differs.js",
    "first_difference.js",
    "differences.js",
    "side.js",
    "pair.js",
    "main.js",
)
"""The scripts; each imports from earlier ones only."""
_STYLES = ("style.css", "layout.css", "messages.css", "pair.css", "tree.css")
_BOUND = "quorum.js"
"""All scripts as one: a browser that loads each by itself needs more than twice the time."""
STATIC = {
    **dict.fromkeys(_STYLES, "text/css"),
    "icon.svg": "image/svg+xml",
    **dict.fromkeys((_BOUND, *_MODULES), "text/javascript"),
}
"""The files of the page and their types."""
Kind = Literal["sweep", "episode", "pair"]
"""The kinds of pages."""
LONGEST_TRACE = 512 * MIB
"""Bytes of a trace that is exported: the file has about a tenth of that, and is unpacked page by page."""
MOST_CALLS = 256 * MIB
"""Bytes of `calls.jsonl` that are exported: a browser unpacks them as a whole."""
_IMPORT = re.compile(r'^import \{([^}]*)\} from "\./(\w+)\.js";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const) (\w+))", re.MULTILINE)
_EXPORTED = re.compile(r"^export (?:async )?(?:function|class|const) (\w+)", re.MULTILINE)


@cache
def static_file(name: str) -> bytes:
    """Return a file of the page."""
    if name == _BOUND:
        return bound().encode()
    return files("quorum.experiments.viewer").joinpath("static", name).read_bytes()


def served_page(kind: Kind, name: str, title: str = "", up: str = "") -> str:
    """Return a page that asks the server for its data.

    Args:
        kind: of the page.
        name: of its run, or, of two runs that were picked, the way to both; else its title.
        title: where that is not the name.
        up: the way from its address to that of the front page.
    """
    head = "".join(f'<link rel="stylesheet" href="{up}static/{name}">\n' for name in _STYLES)
    head += f'<link rel="icon" href="{up}static/icon.svg">\n'
    head += f'<script type="module" src="{up}static/{_BOUND}"></script>'
    return _page(kind, Markup(head), Markup(), title or name, {"run": name, "up": up})


def exported_page(*episodes: Episode, pair: Json | None = None) -> str:
    """Return the page of a run, or of two side by side, as one file that needs nothing else.

    Args:
        episodes: one, or two.
        pair: what is known of the two.

    Raises:
        UserError: a run is too long for one file.
    """
    for episode in episodes:
        _check_size(episode.folder)
    style, script = "".join(static_file(name).decode() for name in _STYLES), bound()
    policy = f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; base-uri 'none'"
    policy += "; form-action 'none'"
    head = f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n<style>{style}</style>'
    tail = [_packed("pair", msgspec.json.encode(pair))] if pair is not None else []
    for place, episode in enumerate(episodes):
        tail.extend(_parts(episode, place))
    title = " | ".join(episode.overview["name"] for episode in episodes)
    kind: Kind = "episode" if pair is None else "pair"
    return _page(
        kind, Markup(head), Markup("\n".join([*tail, f"<script>{script}</script>"])), title, {"run": title, "up": ""}
    )


def _parts(episode: Episode, place: int) -> Iterator[str]:
    """Pack the data of a run, with its place among those of the page."""
    calls = _shared(_call(episode, number) for number in range(len(episode.calls)))
    data: Json = {"episode": _at_its_time(episode.overview), "calls": calls}
    yield _packed(f"data-{place}", msgspec.json.encode(data))
    for number in range(len(episode.pages)):
        yield _packed(f"page-{place}-{number}", episode.pages.data(number))
        yield _packed(f"film-{place}-{number}", episode.film.data(number))
        yield _packed(f"ways-{place}-{number}", episode.ways.data(number))


def _at_its_time(overview: Json) -> Json:
    """Return what is known of a run for a file that does not go on with it."""
    if not overview["under_way"]:
        return overview
    problems = [*overview["problems"], "The run was under way when this file was written."]
    return {**overview, "problems": problems, "under_way": False}


def _check_size(folder: RunFolder) -> None:
    """Refuse a run that a browser could not hold in one file.

    Raises:
        UserError: it is too long.
    """
    for name, most in ((folder.trace_name(), LONGEST_TRACE), (CALLS, MOST_CALLS)):
        if name is not None and folder.files.size(name) > most:
            raise UserError(
                f"--export: {folder.path / name} has more than {most // MIB} MiB, which is too much for one file",
                f"Open the run instead, which is read page by page: quorum view {folder.path}",
            )


def _packed(name: str, data: bytes) -> str:
    """Pack data into an element; the scripts unpack it when it is asked for."""
    text = base64.b64encode(gzip.compress(data, mtime=0)).decode()
    return f'<script type="application/octet-stream" id="{name}">{text}</script>'


def _call(episode: Episode, number: int) -> Json:
    """Return a call, or, where its record cannot be read, one that says so."""
    try:
        return episode.calls.call(number)
    except ValueError as error:
        where = episode.calls.places[number]
        why = f"its record in calls.jsonl cannot be read: {error}"
        return {"agent": where.agent, "t": where.t, "messages": [], "failure": {"kind": "Damaged", "message": why}}


def _shared(calls: Iterable[Json]) -> Json:
    """Keep each text of a prompt once: most of a prompt is the same in every call."""
    texts: dict[str, int] = {}

    def shared(message: Json) -> Json:
        kept: Json = {
            "role": message["role"],
            "content": texts.setdefault(message["content"], len(texts)),
        }
        if "pictures" in message:
            kept["pictures"] = message["pictures"]
        return kept

    found = [{**call, "messages": list(map(shared, call["messages"]))} for call in calls]
    return {"texts": list(texts), "calls": found}


@cache
def bound() -> str:
    """Return all scripts as one: each module a function, its imports taken from what earlier ones gave back."""
    return '"use strict";\n{\n' + "".join(_functions()) + "}\n"


def _functions() -> Iterator[str]:
    for file in _MODULES:
        name = file.removesuffix(".js")
        source = static_file(file).decode()
        body = _IMPORT.sub(lambda found: f"const {{{found[1]}}} = {found[2]};\n", source)
        exported = ", ".join(_EXPORTED.findall(source))
        yield f"const {name} = (() => {{\n{_EXPORT.sub('', body)}\nreturn {{ {exported} }};\n}})();\n"


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _page(kind: Kind, head: Markup, tail: Markup, title: str, attributes: Mapping[str, str]) -> str:
    data = Markup("").join(Markup(' data-{}="{}"').format(key, value) for key, value in attributes.items())
    return f"""<!doctype html>
<html lang="en" data-page="{kind}"{data}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(title)}</title>
{head}
</head>
<body>
<noscript>This page needs JavaScript.</noscript>
<main id="main"></main>
{tail}
</body>
</html>
"""
