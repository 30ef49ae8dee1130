"""Damaged folders of every kind through every verb: no traceback, no hang, no process beyond 1 GB, nothing outside.

`FUZZ_INPUTS` inputs are drawn, each by a number from `FUZZ_SEED` on. A failure shows its number, so that
`FUZZ_SEED=NUMBER FUZZ_INPUTS=1` repeats it.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from quorum.agents.simulated.model import SimulatedModel
from quorum.configuration.schema import validate
from tests.composing import compose
from tests.conftest import FORKS
from tests.hostile.commands import bound_memory
from tests.hostile.damage import DAMAGES
from tests.hostile.drive import attack, draw, plant_canaries
from tests.hostile.kinds import KINDS, Kind, build
from tests.hostile.verbs import EXAMPLES, VERBS
from tests.loopback import Batches
from tests.serving import served

INPUTS = int(os.environ.get("FUZZ_INPUTS", "60"))
FIRST = int(os.environ.get("FUZZ_SEED", "0"))
TOGETHER = 15
"""Inputs of one process."""
Draw = tuple[int, str | None, str | None]
"""The number of an input, its verb and a damage; None for any."""


FEW = ("sweep", "blame", "memory")
"""Kinds of folders that each damage is done to once: one in four, in the first kind, by `make test`."""


@dataclass(frozen=True, slots=True)
class Good:
    """What is damaged.

    Attributes:
        folder: in which it was built.
        names: of the kinds.
        server: the address of the model that some of their commands ask.
    """

    folder: Path
    names: Sequence[str]
    server: str

    def kinds(self) -> list[Kind]:
        """Read them."""
        return [Kind.read(name, self.folder, self.server) for name in self.names]


def _build(folder: Path, names: Sequence[str], connection: Connection) -> None:
    """Build a folder of each kind, and serve the model until the connection ends."""
    brain = SimulatedModel(validate(compose(["llm=simulated"])).llm)  # type: ignore[arg-type] # by its name
    with served(brain, batches=Batches()) as addresses, suppress(EOFError):
        build(folder, names, addresses.openai)
        plant_canaries(folder, Kind.read(names[0], folder, addresses.openai))
        connection.send(addresses.openai)
        connection.recv()


@contextmanager
def built(folder: Path, names: Sequence[str]) -> Iterator[Good]:
    """Build a folder of each of these kinds."""
    connection, end = FORKS.Pipe()
    process = FORKS.Process(target=_build, args=(folder, names, end))
    process.start()
    end.close()
    yield Good(folder, names, connection.recv())
    connection.close()
    process.join()


@pytest.fixture(scope="session")
def good(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Good]:
    """Give folders of all kinds."""
    with built(tmp_path_factory.mktemp("good"), list(KINDS)) as found:
        yield found


def _attack(good: Good, work: Path, draws: Sequence[Draw], found: Connection) -> None:
    bound_memory()
    kinds = good.kinds()
    for seed, verb, damage in draws:
        given = draw(good.folder, kinds, seed, verb, damage)
        found.send((str(given), attack(given, good.folder, work / str(seed)).wrong))
        shutil.rmtree(work / str(seed))


def fuzz(good: Good, work: Path, draws: Sequence[Draw]) -> None:
    """Draw inputs, and give them to the command."""
    connection, end = FORKS.Pipe(duplex=False)
    process = FORKS.Process(target=_attack, args=(good, work, draws, end))
    process.start()
    end.close()
    outcomes = [connection.recv() for _ in draws]
    process.join()
    wrong = [f"{given}\n{what}" for given, what in outcomes if what]
    assert not wrong, f"{len(wrong)} times:\n\n" + "\n\n".join(wrong[:5])


def test_every_verb_has_an_example() -> None:
    assert {*EXAMPLES} == {*VERBS}, "add the new verb to EXAMPLES, with what it needs next to folders and files"


@pytest.mark.parametrize("part", [1, pytest.param(4, marks=pytest.mark.conformance)])
def test_no_damage_of_any_kind_brings_a_verb_down(part: int, tmp_path: Path) -> None:
    verbs = sorted(VERBS)
    draws = [(seed, verbs[seed % len(verbs)], damage) for seed, damage in enumerate(sorted({*DAMAGES} - {"database"}))]
    with built(tmp_path / "good", FEW[:part]) as good:
        fuzz(good, tmp_path, draws[:: 4 // part])


@pytest.mark.conformance
@pytest.mark.parametrize("first", range(FIRST, FIRST + INPUTS, TOGETHER))
def test_no_input_brings_a_verb_down(good: Good, tmp_path: Path, first: int) -> None:
    last = min(first + TOGETHER, FIRST + INPUTS)
    fuzz(good, tmp_path, [(seed, None, None) for seed in range(first, last)])
