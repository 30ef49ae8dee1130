"""The first hours of three new users: what they type, what they have to learn, and how long they wait without a sign.

    python -m benchmarks.hours                             # all three, each in a fresh clone; 5 minutes
    python -m benchmarks.hours bundle --keep hours         # one, and what the terminal showed stays in hours/bundle.txt

`hours.yaml` has their commands. Each hour begins with a clone of this checkout's last commit and with `make run`, which
installs into a new virtual environment. Every command is typed in a terminal of 120 columns. Measured are its seconds,
and the longest time in which the terminal shows nothing new. A concept is a verb, an option, a key of the
configuration, or a named value such as a topology; what the user has named is none.

The exit code is 1 if a command fails, if a user needs more than 13 concepts up to the first own figure, or if the
terminal stands still for more than two seconds.
"""

from __future__ import annotations

import argparse
import os
import pty
import re
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
HOURS = Path(__file__).with_name("hours.yaml")
CONCEPTS, SECONDS = 13, 2.0
"""The most concepts up to the first figure, and the longest time without a sign."""
INSTALL = "make run"
_GROUPS = ("show", "new")
_NAMED = {"agents", "topology", "env", "prompts", "experiment", "turn"}
"""Keys whose values are names that a user must know."""
_NAMING = {"--by", "--baseline", "--metric", "--to", "--figure"}
"""Options with such values."""
_NAME = re.compile(r"[a-z][a-z_.]*")
_UNSEEN = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07|[\r\n ]")


@dataclass(frozen=True, slots=True)
class Typed:
    """A command that was typed.

    Attributes:
        line: the command.
        code: its exit code.
        seconds: how long it took.
        silence: the longest time in seconds in which the terminal showed nothing new.
        after: what the terminal showed last before that.
        shown: all that the terminal showed.
    """

    line: str
    code: int
    seconds: float
    silence: float
    after: str
    shown: str


def concepts(line: str, own: Sequence[str]) -> list[str]:
    """Return the words of a command that a user has to learn, in order.

    Args:
        line: the command.
        own: names that the user has chosen.
    """
    if not line.startswith("quorum "):
        return []
    words = shlex.split(line)[1:]
    found = [" ".join(words[: 2 if words[0] in _GROUPS else 1])]
    for before, word in pairwise(words):
        key, equals, value = word.partition("=")
        if word.startswith("--"):
            found.append(word)
        elif equals:
            found += [key, *(value.split(",") if key in _NAMED else [])]
        elif before in _NAMING:
            found += word.split(",")
    return [word for word in dict.fromkeys(found) if word not in own and (word[:2] == "--" or _NAME.match(word))]


def type_in(line: str, folder: Path, variables: Mapping[str, str]) -> Typed:
    """Type a command in a terminal, and wait for its end."""
    ours, terminal = pty.openpty()
    begin = last = time.monotonic()
    script = f"source .venv/bin/activate 2> /dev/null; {line}"
    process = subprocess.Popen(
        ["bash", "-c", script], cwd=folder, env=variables, stdin=terminal, stdout=terminal, stderr=terminal
    )
    os.close(terminal)
    shown, before, silence, after = "", "", 0.0, ""
    running = True
    while running:
        try:
            chunk = os.read(ours, 1 << 16).decode(errors="replace")
        except OSError:  # how Linux reports the end of a terminal
            chunk, running = "", False
        now, new = time.monotonic(), _UNSEEN.sub("", chunk)
        again = new == before and ("\r" in chunk or "\x1b" in chunk)  # a table that is drawn again as it was is no sign
        if not running or (new and not again):
            if now - last > silence:
                silence, after = now - last, " ".join(shown[-60:].split())
            last, before = now, new
        shown += chunk
    os.close(ours)
    code = process.wait()
    return Typed(line, code, time.monotonic() - begin, silence, after, shown)


@contextmanager
def serving(line: str, folder: Path, variables: Mapping[str, str]) -> Iterator[None]:
    """Keep a command running that serves the user's model; an empty line serves nothing."""
    if not line:
        yield
        return
    script = f"source .venv/bin/activate; exec {line}"
    process = subprocess.Popen(["bash", "-c", script], cwd=folder, env=variables, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        while "Try:" not in process.stdout.readline():
            assert process.poll() is None, f"{line}: it has ended"
        yield
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(30)
        process.stdout.close()


def live(name: str, folder: Path) -> list[Typed]:
    """Live an hour in a fresh clone in a folder, and return its commands; it ends at the first that fails."""
    hour = yaml.safe_load(HOURS.read_text(encoding="utf-8"))[name]
    clone = folder / "quorum"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = str(found.getsockname()[1])
    kept = {key: os.environ[key] for key in ("PATH", "HOME", "LANG", "XDG_CACHE_HOME") if key in os.environ}
    variables = {**kept, "TERM": "xterm", "COLUMNS": "120", "LINES": "40"}
    typed = [type_in(INSTALL, clone, variables)]
    with serving(hour.get("server", "").replace("{port}", port), clone, variables):
        for line in hour["lines"]:
            if typed[-1].code:
                break
            typed.append(type_in(line.replace("{port}", port), clone, variables))
    return typed


def table(name: str, typed: Sequence[Typed]) -> tuple[str, int]:
    """Return the table of an hour in Markdown, and the number of concepts up to the first own figure."""
    hour = yaml.safe_load(HOURS.read_text(encoding="utf-8"))[name]
    known: dict[str, None] = {}
    lines, at_figure = ["| typed | new concepts | seconds | longest without a sign |", "|---|---|---|---|"], 0
    for one in typed:
        new = [word for word in concepts(one.line, hour["own"]) if word not in known]
        known.update(dict.fromkeys(new))
        lines.append(f"| `{one.line}` | {len(new)}: {', '.join(new)} | {one.seconds:.1f} | {one.silence:.1f} |")
        if one.line == hour["figure"]:
            at_figure = len(known)
    return "\n".join(lines), at_figure


def main() -> None:
    """Live the hours; print the table of each, and one of all."""
    hours = yaml.safe_load(HOURS.read_text(encoding="utf-8"))
    parser = argparse.ArgumentParser(description="The first hours of new users.")
    parser.add_argument("hours", nargs="*", metavar="HOUR", help=f"which of {', '.join(hours)} (default: all)")
    parser.add_argument("--keep", type=Path, help="folder for what the terminal showed")
    given = parser.parse_args()
    bad = False
    rows = ["| question | commands | concepts | minutes | longest without a sign |", "|---|---|---|---|---|"]
    for name in given.hours or hours:
        with tempfile.TemporaryDirectory(prefix=f"{name}-") as folder:
            typed = live(name, Path(folder))
        if given.keep is not None:
            given.keep.mkdir(parents=True, exist_ok=True)
            (given.keep / f"{name}.txt").write_text("".join(f"$ {one.line}\n{one.shown}\n" for one in typed))
        text, at_figure = table(name, typed)
        minutes, silence = sum(one.seconds for one in typed) / 60, max(one.silence for one in typed)
        print(f"\n{name}\n\n{text}", flush=True)
        rows.append(f"| {hours[name]['question']} | {len(typed)} | {at_figure} | {minutes:.1f} | {silence:.1f} s |")
        for one in typed:
            if one.silence > SECONDS:
                print(f"{one.silence:.1f} s without a sign: {one.line}, after: {one.after}", file=sys.stderr)
            if one.code:
                print(f"exit code {one.code}: {one.line}\n{one.shown[-2000:]}", file=sys.stderr)
        bad = bad or silence > SECONDS or any(one.code for one in typed) or not 0 < at_figure <= CONCEPTS
    print("\n" + "\n".join(rows))
    sys.exit(bad)


if __name__ == "__main__":
    main()
