"""Drives the verbs over damaged runs in its own process, and notes what becomes of each: `python -m ... SEED`."""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import shutil
import signal
import sys
import traceback
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.experiments.hostile.damage import SECRET, damage

SECONDS = 10.0
"""Of the processor, after which a verb counts as hanging."""
WAIT = 60.0
"""Seconds, after which one does that waits: more than the above, since other processes may have the processors."""
MEMORY = 1_000_000
"""KiB that a process may take."""
GRID = ("agents=naive", "topology=debate", "n=2", "max_steps=6", "seed=0,1")
"""The sweep whose runs are damaged: two cells that are left whole, and copies of them that are not."""
EPISODE = (*GRID[:-1], "seed=0")


class Hanging(BaseException):
    """A verb takes too long."""


@dataclass(slots=True)
class Outcome:
    """What became of a verb.

    Attributes:
        inputs: what it was given: the kinds of damage.
        verb: its words.
        code: its exit code; None where it did not end by itself.
        memory: KiB that the process took at most.
        wrong: what it must not do; empty for nothing.
    """

    inputs: str
    verb: str
    code: int | None
    memory: int
    wrong: str


def prepare(folder: Path) -> None:
    """Run the sweep whose runs are damaged."""
    from quorum.experiments.sweep.command import run_sweep_command
    from quorum.experiments.sweep.run import SweepRequest

    request = SweepRequest(words=(*GRID, "engine.workers=1"), out=folder, name="good")
    report = run_sweep_command(request, quiet=True)
    assert report.exit_code == 0, report.complaint


def drive(good: Path, work: Path, seed: int, kinds: list[str | None], report: Path) -> None:
    """Damage copies of good runs, one by each kind, and give them to all verbs. To be called in its own process.

    Args:
        good: a finished sweep.
        work: an empty folder.
        seed: decides everything that is left to chance.
        kinds: of damage; None: any.
        report: where the outcomes are written, a line each.
    """
    os.chdir(work)
    os.environ["XDG_CACHE_HOME"] = str(work / "cache")
    sys.stdin = io.StringIO()
    chance = random.Random(seed)
    sweep = work / "runs" / "good"
    shutil.copytree(good, sweep)
    (sweep / "secret.txt").write_text(f"{SECRET}\n..0\n1..\n")
    (sweep / "secret.json").write_text(json.dumps({"outcome.steps": 1, SECRET: 1}))
    whole = sorted(path for path in sweep.iterdir() if path.is_dir() and path.name.startswith("cube"))
    named = []
    for number, kind in enumerate(kinds):
        run = sweep / f"run-{number}"
        shutil.copytree(chance.choice(whole), run)
        (sweep / "good-0").exists() or shutil.copytree(whole[0], sweep / "good-0")
        named.append((run, damage(run, chance, kind)))
    with report.open("w") as lines:

        def note(inputs: str, *words: str, must_end_well: bool = False) -> None:
            outcome = call(inputs, words)
            if must_end_well and outcome.code != 0 and not outcome.wrong:
                outcome.wrong = f"one bad folder is its end: exit code {outcome.code}"
            lines.write(json.dumps(asdict(outcome)) + "\n")
            lines.flush()

        for run, kind in named:
            note(kind, "results", "--recompute", str(run))
            note(kind, "check", str(run))
            note(kind, "replay", str(run))
            note(kind, "view", str(run), "--export", str(work / f"{run.name}.html"))
            note(kind, "run", *EPISODE, "llm=replay", f"llm.run={run}", "--quiet", "--out", str(work / "again"))
        every, folder = " ".join(kind for _, kind in named), str(sweep)
        note(every, "results", folder, must_end_well=True)
        note(every, "results", folder, "--sql", "select count(*) from events")
        note(every, "check", folder)
        note(
            every,
            "compare",
            folder,
            "--by",
            "topology.name",
            "--across",
            "none",
            "--metric",
            "steps",
            "--accept-versions",
        )
        note(
            every,
            "report",
            folder,
            "--by",
            "topology.name",
            "--across",
            "none",
            "--metric",
            "steps",
            "--accept-versions",
            "--curves",
        )
        note(every, "sweep", *GRID, "--name", "good", "--dry-run", "--accept-versions", must_end_well=True)
        note(every, "the sweep's page", folder)


def call(inputs: str, words: tuple[str, ...]) -> Outcome:
    """Run a verb in this process as the command would."""
    Path("/proc/self/clear_refs").write_text("5")  # the peak of the memory is counted from here
    out, err = io.StringIO(), io.StringIO()
    code: int | None = None
    wrong = ""

    def hang(*_: object) -> None:
        raise Hanging

    clocks = {signal.ITIMER_PROF: SECONDS, signal.ITIMER_REAL: WAIT}
    for number in (signal.SIGPROF, signal.SIGALRM):
        signal.signal(number, hang)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                for clock, seconds in clocks.items():
                    signal.setitimer(clock, seconds)
                code = _run(words)
            finally:
                for clock in clocks:
                    signal.setitimer(clock, 0)
    except Hanging:
        wrong = "it hangs: " + "".join(traceback.format_exc().splitlines(keepends=True)[-12:])
    except BaseException:
        wrong = traceback.format_exc()
    reported = out.getvalue() + err.getvalue()
    memory = _peak()
    wrong = wrong or _wrong(reported, code, memory)
    return Outcome(inputs, " ".join(words), code, memory, wrong)


def _run(words: tuple[str, ...]) -> int:
    if words[0] == "the sweep's page":
        return _page(Path(words[1]))
    from quorum.cli import main

    sys.argv = ["quorum", *words]
    try:
        main()
    except SystemExit as end:
        return int(end.code or 0) if not isinstance(end.code, str) else 1
    return 0


def _page(sweep: Path) -> int:
    """Make what the served page of a sweep asks for, of every run of it."""
    import msgspec

    from quorum.experiments.viewer.library import Library
    from quorum.experiments.viewer.runs import sweep_table

    library = Library.of(sweep)
    sys.stdout.write(msgspec.json.encode(sweep_table(library.root)).decode())
    for name in library.names():
        episode = library.episode(name)
        if episode is not None:
            sys.stdout.write(msgspec.json.encode(episode.overview).decode())
            for number in range(len(episode.pages)):
                sys.stdout.write(episode.pages.data(number).decode())
                sys.stdout.write(episode.film.data(number).decode())
            episode.calls.matching("a")
    return 0


def _wrong(reported: str, code: int | None, memory: int) -> str:
    if "Traceback (most recent call last)" in reported or "never retrieved" in reported:
        return reported[-3000:]
    if code not in (0, 1, 2):
        return f"exit code {code}: {reported[-500:]}"
    if SECRET in reported:
        return f"it shows the secret: {reported[-2000:]}"
    if memory > MEMORY:
        return f"it takes {memory} KiB"
    return ""


def _peak() -> int:
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0])
