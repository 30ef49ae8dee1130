"""How sweeps survive attacks: kills, full disks, clocks that go back, stolen keys, slow servers, and sheer size.

    python -m benchmarks.attacks             all, as a table
    python -m benchmarks.attacks kill clock  those whose names contain one of these words

Each attack hits the command itself, in its own process. "Recovered" are the seconds from the end of the cause, or from
the restart of the command, to the next finished cell. A full disk, a read-only one and a clock need root and faketime.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import orjson

from quorum.agents.llm.protocol import Reply, Request
from quorum.agents.llm.records import request_key
from quorum.agents.simulated import SimulatedSettings
from quorum.agents.simulated.model import SimulatedModel
from quorum.more_providers.batches.journal import BATCHES, orphans
from tests.conftest import command, environment
from tests.loopback import Addresses, Batches, Fault, FaultKind
from tests.serving import served

TEAM = ("agents=naive", "n=3,4", "seed=range(0,15)", "topology=individual,debate", "max_steps=25", "engine.workers=2")
FAKETIME = Path("/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1")
MIB = 1 << 20


@dataclass
class Found:
    """The result of an attack.

    Attributes:
        tries: number of attacks.
        result: in words.
        recovered: seconds, each time.
    """

    tries: int
    result: str
    recovered: Sequence[float] = ()

    @property
    def row(self) -> str:
        """The cells of the table after the name."""
        back = f"{median(self.recovered):.1f} s, at most {max(self.recovered):.1f} s" if self.recovered else "-"
        return f"{self.tries} | {self.result} | {back}"


@dataclass
class Counting:
    """The simulated model, which counts the answers that it gives."""

    model: SimulatedModel = field(
        default_factory=lambda: SimulatedModel(SimulatedSettings(**dict.fromkeys(SimulatedSettings.model_fields, 0)))
    )
    asked: Counter[str] = field(default_factory=Counter)
    tokens: int = 0

    async def complete(self, request: Request) -> Reply:
        """Answer, and count."""
        reply = await self.model.complete(request)
        self.asked[request_key(request)] += 1
        self.tokens += reply.usage.prompt + reply.usage.completion
        return reply


def over_http(addresses: Addresses) -> tuple[str, ...]:
    """Return the arguments for a model behind HTTP."""
    own = ("llm=openai", f"llm.base_url={addresses.openai}", "llm.model=simulated", "llm.api_key_env=null")
    return (*own, "llm.cache=false")


class Sweep:
    """A sweep in a folder, whose command is run again and again."""

    def __init__(self, out: Path, name: str, words: Sequence[str], **variables: str) -> None:
        self.folder = out / name
        self.line = command("sweep", *words, "--name", name, "--out", str(out), "--quiet", "--json")
        self.variables = variables

    def start(self, *more: str) -> subprocess.Popen[str]:
        """Start the command."""
        return subprocess.Popen(
            [*self.line, *more],
            env=environment(**self.variables),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def done(self) -> int:
        """Count the finished cells."""
        return sum(1 for _ in self.folder.glob("*/meta.json") if ".partial-" not in _.parent.name)

    def ended(self, *more: str) -> Any:
        """Run the command to its end, which must be a success; return its output."""
        process = self.start(*more)
        out, err = process.communicate()
        assert process.returncode == 0, err
        return orjson.loads(out)

    def wait_for_more(self, process: subprocess.Popen[str], seconds: float = 60.0) -> float | None:
        """Wait for the next finished cell; return the seconds; None if the command ends first."""
        begin, before = time.monotonic(), self.done()
        while self.done() == before:
            if process.poll() is not None or time.monotonic() - begin > seconds:
                return None
            time.sleep(0.02)
        return time.monotonic() - begin

    @property
    def table(self) -> bytes:
        """The table of results."""
        return (self.folder / "results.csv").read_bytes()


def undisturbed(out: Path, words: Sequence[str]) -> Sweep:
    """Run the sweep without an attack."""
    sweep = Sweep(out, "undisturbed", words)
    sweep.ended()
    return sweep


def same(one: Sweep, other: Sweep) -> str:
    """Compare two tables of results."""
    return "same table" if one.table == other.table else "ANOTHER TABLE"


def workers_of(process: subprocess.Popen[str]) -> list[int]:
    """Return the processes below a command."""
    listed = subprocess.run(["pgrep", "-g", str(process.pid)], capture_output=True, text=True, check=False)
    return [int(number) for number in listed.stdout.split() if int(number) != process.pid]


def storm(sweep: Sweep, kills: int, victims: str) -> list[float]:
    """Kill the command, or one of its processes, at random moments; return the duration of each restart."""
    draw, recovered = random.Random(7), []
    process = sweep.start()
    for _ in range(kills):
        if (took := sweep.wait_for_more(process)) is None:
            _, err = process.communicate()
            assert "Traceback" not in err, err
            if process.returncode == 0:
                break
            process = sweep.start()  # the server that forks its workers was killed, which ends it
            continue
        recovered.append(took)
        time.sleep(draw.uniform(0.0, 0.5))
        if victims == "command":
            process.kill()
            process.communicate()
            process = sweep.start()
        else:
            with_workers = workers_of(process)
            for number in draw.sample(with_workers, min(1, len(with_workers))):
                with suppress(ProcessLookupError):
                    os.kill(number, signal.SIGKILL)
    process.communicate()
    return recovered[1:]


def kill_commands(out: Path) -> Found:
    """Kill the command."""
    once, sweep = undisturbed(out, TEAM), Sweep(out, "s", TEAM)
    recovered = storm(sweep, 12, "command")
    sweep.ended()
    return Found(len(recovered), same(once, sweep), recovered)


def kill_workers(out: Path) -> Found:
    """Kill processes of the command."""
    once, sweep = undisturbed(out, TEAM), Sweep(out, "s", TEAM)
    recovered = storm(sweep, 12, "workers")
    again = sweep.ended("--retry-failed")["run_now"]
    return Found(len(recovered), f"{same(once, sweep)}; {again} cells whose workers died three times", recovered)


def kill_over_http(out: Path) -> Found:
    """Kill the command while its model answers over HTTP, and compare its books with the answers served."""
    brain = Counting()
    with served(brain, latency=0.05) as addresses:
        words = (*TEAM, *over_http(addresses))
        once = undisturbed(out, words)
        before = brain.tokens
        sweep = Sweep(out, "s", words)
        recovered = storm(sweep, 10, "command")
        booked = sweep.ended()["tokens"]
        total = brain.tokens - before
    return Found(len(recovered), f"{same(once, sweep)}; {booked} tokens booked of {total} served", recovered)


def kill_batches(out: Path) -> Found:
    """Kill the command while batches are in flight: no request is sent twice."""
    brain, batches, draw, ends = Counting(), Batches(seconds=3.0), random.Random(5), Counter[int]()
    with served(brain, batches=batches) as addresses:
        words = ("agents=naive", "n=2", "max_steps=4", "topology=debate", "seed=range(0,100)", *over_http(addresses))
        once = undisturbed(out, words)
        asked = Counter(brain.asked)
        sweep = Sweep(out, "s", (*words, "engine=batch", "engine.wait=1", "engine.poll=0.1"))
        for _ in range(10):
            process = sweep.start()
            time.sleep(draw.uniform(2.0, 6.0))
            process.kill()
            process.communicate()
            ends[process.returncode] += 1
        sweep.ended()
    twice = sum((brain.asked - asked - asked).values())
    left = orphans(sweep.folder, Path.exists) if (sweep.folder / BATCHES).exists() else "none"
    return Found(ends[-signal.SIGKILL], f"{same(once, sweep)}; {twice} requests sent twice; orphans: {left}")


@contextmanager
def disk_of(out: Path, size: str) -> Iterator[tuple[Path, Callable[[str], object]]]:
    """Return a disk of some size, and a function that mounts it again with other options."""
    disk = out / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(disk)], check=True)
    try:
        yield disk, lambda options: subprocess.run(["mount", "-o", f"remount,{options}", str(disk)], check=True)
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def full_disk(out: Path) -> Found:
    """Fill the disk, free space, and continue."""
    once, codes, recovered = undisturbed(out, TEAM), [], []
    with disk_of(out, "1m") as (disk, remount):
        sweep = Sweep(disk, "s", TEAM)
        for size in ("2m", "3m", "4m", "64m"):
            process = sweep.start()
            _, err = process.communicate()
            codes.append(process.returncode)
            assert "Traceback" not in err, err
            remount(f"size={size}")
        left = [path.name for path in sweep.folder.iterdir() if ".partial-" in path.name]
        process = sweep.start()
        recovered.append(sweep.wait_for_more(process) or 0.0)
        process.communicate()
        sweep.ended()
        return Found(len(codes), f"{same(once, sweep)}; exit codes {codes}; half-written: {len(left)}", recovered)


def read_only(out: Path) -> Found:
    """Kill the sweep, make its disk read-only, make it writable again, and continue, three times."""
    once, codes, recovered = undisturbed(out, TEAM), [], []
    with disk_of(out, "64m") as (disk, remount):
        sweep = Sweep(disk, "s", TEAM)
        for _ in range(3):
            process = sweep.start()
            recovered.append(sweep.wait_for_more(process) or 0.0)
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            remount("ro")
            process = sweep.start()
            _, err = process.communicate()
            codes.append(process.returncode)
            assert "Read-only file system" in err, err
            assert "Traceback" not in err, err
            remount("rw")
        sweep.ended()
        return Found(len(codes), f"{same(once, sweep)}; refused in a line, exit codes {codes}", recovered[1:])


def clock_back(out: Path) -> Found:
    """Set the clock of the command back an hour every half second."""
    once = undisturbed(out, TEAM)
    stamp, stopped = out / "clock", threading.Event()
    stamp.write_text("+0")
    sets = 0

    def turn() -> None:
        nonlocal sets
        while not stopped.wait(0.5):
            sets += 1
            stamp.write_text(f"-{sets}h")

    variables = {
        "LD_PRELOAD": str(FAKETIME),
        "FAKETIME_TIMESTAMP_FILE": str(stamp),
        "FAKETIME_NO_CACHE": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        "FAKETIME_DONT_RESET": "1",
    }
    sweep = Sweep(out, "s", TEAM, **variables)
    thread = threading.Thread(target=turn)
    thread.start()
    try:
        sweep.ended()
        again = sweep.ended()
    finally:
        stopped.set()
        thread.join()
    return Found(sets, f"{same(once, sweep)}; played again by the next command: {again['run_now']}")


SECRET = "sk-canary-5f0c1d7e9b3a4682"


def secrets(out: Path) -> Found:
    """Serve errors that repeat the key, and search all files and output for it."""
    kinds = [FaultKind.UNAUTHORIZED, FaultKind.BAD_REQUEST, FaultKind.HTML, FaultKind.BROKEN_JSON, FaultKind.REFUSAL]
    said, tries = "", 0
    for kind in kinds:
        with served(Counting(), faults=lambda number, kind=kind: Fault(kind) if number % 3 == 1 else None) as addresses:
            address = addresses.openai.replace("://", f"://user:{SECRET}@")
            for words in (
                ("llm.api_key_env=CANARY_KEY", f"llm.base_url={addresses.openai}"),
                ("llm.api_key_env=CANARY_KEY", f"llm.base_url={address}"),
                ("llm.api_key_env=CANARY_KEY", f"llm.base_url={addresses.openai}", f"llm.extra_headers.X={SECRET}"),
            ):
                line = ["n=2", "agents=naive", "max_steps=2", "llm=openai", "llm.model=simulated", *words]
                for verb in (["run", *line], ["sweep", *line, "--name", f"s{tries}"], ["run", *line, "--debug"]):
                    done = subprocess.run(
                        command(*verb, "--out", str(out / "runs")),
                        env=environment(CANARY_KEY=SECRET),
                        capture_output=True,
                        text=True,
                        check=False,
                        cwd=out,
                    )
                    said += done.stdout + done.stderr
                    tries += 1
    for verb in (["results"], ["compare"], ["report", "--episodes"]):
        for sweep in sorted((out / "runs").glob("s*")):
            done = subprocess.run(
                command(verb[0], str(sweep), *verb[1:]), env=environment(), capture_output=True, text=True, check=False
            )
            said += done.stdout + done.stderr
            tries += 1
    files = [path for path in out.rglob("*") if path.is_file()]
    shown = [str(path) for path in files if SECRET.encode() in path.read_bytes()]
    assert "Traceback" not in said
    return Found(
        tries, f"shown in {len(shown)} of {len(files)} files, {said.count(SECRET)} times on the terminal {shown[:3]}"
    )


def _silent(server: socket.socket, reply: Callable[[socket.socket], None]) -> None:
    while True:
        try:
            accepted, _ = server.accept()
        except OSError:
            return
        threading.Thread(target=reply, args=(accepted,), daemon=True).start()


def _drip(text: bytes, pace: float) -> Callable[[socket.socket], None]:
    def reply(accepted: socket.socket) -> None:
        with suppress(OSError), accepted:
            accepted.recv(65536)
            for place in range(len(text)):
                accepted.sendall(text[place : place + 1])
                time.sleep(pace)
            time.sleep(600)

    return reply


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n"
SLOW: Mapping[str, Callable[[socket.socket], None]] = {
    "takes the connection and is silent": _drip(b"", 1.0),
    "sends a byte of the head a second": _drip(HEAD * 10, 1.0),
    "sends the head, and a byte of the body each half second": _drip(HEAD + b" " * 10_000, 0.05),
    "closes at once": lambda accepted: accepted.close(),
    "says that a body of 100 GB follows": _drip(HEAD.replace(b"100000", b"100000000000") + b"{", 0.0),
}


def slow_servers(out: Path) -> Found:
    """Call slow servers, with a deadline of two seconds and one more try."""
    seconds, outcomes = [], Counter[object]()
    for number, reply in enumerate(SLOW.values()):
        with socket.create_server(("127.0.0.1", 0)) as server:
            threading.Thread(target=_silent, args=(server, reply), daemon=True).start()
            address = f"http://127.0.0.1:{server.getsockname()[1]}/v1"
            words = ("n=2", "agents=naive", "max_steps=2", "llm=openai", "llm.model=m", f"llm.base_url={address}")
            more = ("llm.api_key_env=null", "llm.deadline=2", "llm.tries=2", f"seed={number}")
            begin = time.monotonic()
            line = command("run", *words, *more, "--out", str(out))
            done = subprocess.run(line, env=environment(), capture_output=True, text=True, check=False)
            seconds.append(time.monotonic() - begin)
            assert "Traceback" not in done.stderr, done.stderr
            outcomes[done.returncode] += 1
    return Found(len(SLOW), f"exit codes {dict(outcomes)}; ended after {min(seconds):.1f} to {max(seconds):.1f} s")


def measured(*words: str, seconds: float = 1200.0) -> str:
    """Run a verb; return its wall time and the most memory that one of its processes took."""
    begin = time.monotonic()
    process = subprocess.Popen(command(*words), env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    threading.Timer(seconds, process.kill).start()
    err = process.stderr.read() if process.stderr is not None else b""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    code = f" exit {process.returncode} {err[-200:]!r}" if process.returncode else ""
    return f"{words[0]}{code} {time.monotonic() - begin:.0f} s, {usage.ru_maxrss // 1024} MiB"


def large_team(out: Path) -> Found:
    """256 agents for 500 steps, with the viewer's page and the metrics."""
    shown = [measured("run", "n=256", "max_steps=500", "--out", str(out), "--quiet")]
    run = next(out.glob("cube*"))
    shown.append(measured("results", str(run)))
    shown.append(measured("view", str(run), "--export", str(out / "page.html")))
    return Found(3, "; ".join(shown))


def many_cells(out: Path) -> Found:
    """10,000 cells, with every command that reads them."""
    shown = [
        measured("sweep", "n=2", "seed=range(0,10000)", "max_steps=2", "--name", "s", "--out", str(out), "--quiet")
    ]
    for words in (("results",), ("compare", "--by", "agents"), ("report",), ("check",)):
        shown.append(measured(words[0], str(out / "s"), *words[1:]))
    return Found(len(shown), "; ".join(shown))


ATTACKS: Mapping[str, Callable[[Path], Found]] = {
    "kill the command": kill_commands,
    "kill workers": kill_workers,
    "kill the command, over HTTP": kill_over_http,
    "kill the command, batches": kill_batches,
    "full disk": full_disk,
    "read-only disk": read_only,
    "clock goes back": clock_back,
    "thieves of keys": secrets,
    "slow servers": slow_servers,
    "256 agents, 500 steps": large_team,
    "10,000 cells": many_cells,
}


def main() -> None:
    """Run the attacks, and print the table."""
    wanted = sys.argv[1:]
    print("| attack | tries | result | recovered (median) |\n|---|---|---|---|")
    for name, attack in ATTACKS.items():
        if wanted and not any(word in name for word in wanted):
            continue
        with tempfile.TemporaryDirectory() as folder:
            print(f"| {name} | {attack(Path(folder)).row} |", flush=True)
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
