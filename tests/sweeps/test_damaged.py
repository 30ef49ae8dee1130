"""A cell is done when every byte of it is there; what is damaged is named, set aside and run again."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Callable
from pathlib import Path

from quorum.runs.finished import RETRIED
from tests.conftest import CORRIDOR, Quorum
from tests.sweeps.conftest import Sweep, stamps


def emptied(name: str) -> Callable[[Path], object]:
    return lambda run: (run / name).write_bytes(b"")


def changed(name: str, place: float) -> Callable[[Path], object]:
    """Turn one bit of a file."""

    def change(run: Path) -> None:
        data = bytearray((run / name).read_bytes())
        data[int(len(data) * place)] ^= 1
        (run / name).write_bytes(data)

    return change


def cut(name: str, share: float) -> Callable[[Path], object]:
    return lambda run: (run / name).write_bytes((run / name).read_bytes()[: int((run / name).stat().st_size * share)])


def zeroed(name: str) -> Callable[[Path], object]:
    """Leave what some file systems leave of a file that was not synced: its length, and zeros."""
    return lambda run: (run / name).write_bytes(bytes((run / name).stat().st_size))


def half(run: Path) -> None:
    """Leave half of the lines of a trace."""
    lines = (run / "trace.jsonl").read_bytes().splitlines(keepends=True)
    (run / "trace.jsonl").write_bytes(b"".join(lines[: len(lines) // 2]))


def as_another_outcome(run: Path) -> None:
    meta = json.loads((run / "meta.json").read_text())
    (run / "meta.json").write_text(json.dumps({**meta, "outcome": "budget"}))


def of_another_cell(run: Path) -> None:
    other = next(path for path in sorted(run.parent.glob("corridor*")) if path != run and path.is_dir())
    shutil.rmtree(run)
    shutil.copytree(other, run)


def linked(run: Path) -> None:
    away = run.parent / ".away"
    run.rename(away)
    run.symlink_to(away)


DAMAGES: dict[str, Callable[[Path], object]] = {
    **{f"{name} empty": emptied(name) for name in ("config.yaml", "meta.json", "metrics.json", "trace.jsonl")},
    **{f"{name} zeros": zeroed(name) for name in ("config.yaml", "metrics.json", "trace.jsonl")},
    **{f"{name} missing": lambda run, name=name: (run / name).unlink() for name in ("metrics.json", "trace.jsonl")},
    "trace cut": cut("trace.jsonl", 0.9),
    "half a trace": half,
    "another outcome": as_another_outcome,
    **{f"{name} one bit": changed(name, 0.5) for name in ("config.yaml", "metrics.json", "trace.jsonl")},
    "trace early": changed("trace.jsonl", 0.1),
    "another cell": of_another_cell,
    "linked": linked,
}


def test_nothing_damaged_is_done_and_everything_damaged_is_run_again(sweep: Sweep, tmp_path: Path) -> None:
    words = ("agents=mortal", "n=1", f"seed=range(0,{len(DAMAGES) + 2})", "env.length=3")
    sweep(*words)
    folder = tmp_path / "s"
    results, before = (folder / "results.csv").read_text(), stamps(folder)
    runs = sorted(path for path in folder.glob("corridor*"))
    for run, damage in zip(runs, DAMAGES.values(), strict=False):
        damage(run)
    packed = runs[-1] / "trace.jsonl"  # compressed by its owner, and whole
    packed.with_name("trace.jsonl.gz").write_bytes(gzip.compress(packed.read_bytes()))
    packed.unlink()
    again = sweep(*words)
    spoiled = [run.name for run in runs[: len(DAMAGES)]]
    assert dict(zip(DAMAGES, sorted(again.damaged), strict=True)) == dict(zip(DAMAGES, spoiled, strict=True))
    assert sorted(done.name for done in again.finished) == spoiled
    assert (again.before, again.left) == (2, 0)
    after = stamps(folder)
    assert {run.name for run in runs[-2:]} == {name for name in after if after[name] == before.get(name)}
    assert sorted(path.parent.name for path in (folder / RETRIED).glob("*/1")) == spoiled
    assert (folder / "results.csv").read_text() == results
    assert len(sweep(*words).finished) == 0


def test_the_command_names_what_it_runs_again(quorum: Quorum, tmp_path: Path) -> None:
    words = ("sweep", *CORRIDOR, "seed=0,1", "engine.workers=1", "--name", "s")
    assert quorum(*words).returncode == 0
    run = min((tmp_path / "runs" / "s").glob("corridor*"))
    emptied("trace.jsonl")(run)
    planned = json.loads(quorum(*words, "--dry-run", "--json").stdout)
    assert list(planned["damaged"]) == [cell["name"] for cell in planned["to_run"]] == [run.name]
    done = quorum(*words)
    assert done.returncode == 0
    assert f"damaged: {run.name}: trace.jsonl: damaged: it is not what the run wrote" in done.stderr
    assert "they run again; their remains are kept in" in done.stderr
