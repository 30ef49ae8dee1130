"""`quorum attribution FOLDER`: methods of attribution on episodes whose fault is known, and how often each is right.

A method gets a `Case`, which holds nothing of the label. `search` has the run played again, and for that the fault is
put around the mind again that did it (`quorum.experiments.episode.branching`); it sees what that mind does, not why.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from maeil.errors import EpisodeStop
from maeil.seeds import Seeds
from maeil.trace.events import ThoughtEnd
from maeil.user_errors import UserError, choices_hint
from quorum.agents.llm.errors import LanguageModelError
from quorum.experiments.blame.accuracy import Accuracy, Share, Truth
from quorum.experiments.blame.chance import CHANCE, FIRST, by_chance, by_first
from quorum.experiments.blame.labels import Case, Labelled, labelled
from quorum.experiments.blame.reader import READER, Procedure, Reader
from quorum.experiments.blame.rules import RULES, by_rules
from quorum.experiments.blame.search import Question, blame
from quorum.experiments.blame.transcript import Transcript
from quorum.experiments.blame.verdict import Verdict
from quorum.experiments.common.event_loop import run_coroutine
from quorum.experiments.common.sanitize import sanitize
from quorum.experiments.configuration.cell import Cell
from quorum.experiments.configuration.schema import Configuration
from quorum.experiments.episode.call_books import CallBooks
from quorum.experiments.episode.model_pool import ModelPool, model_hint
from quorum.experiments.episode.models import EpisodeModels

SEARCH = "search"
READERS = tuple(f"{READER}:{procedure}" for procedure in Procedure)
METHODS = (f"{SEARCH}:self", RULES, *READERS, CHANCE, FIRST)
"""What is scored where nothing else is said."""
ALL = "all"
"""The row of all episodes."""


@dataclass(frozen=True, slots=True)
class Scored:
    """How methods fare on a benchmark.

    Attributes:
        folder: of the episodes.
        labelled: the episodes.
        steps: that a step may be off to count as near.
        verdicts: of each method, one a case.
        refused: why a method says nothing of a case, with the number of cases; they count as wrong.
        simulated: whether the reader is simulated; None: it was not asked.
        reader: the name of its model.
    """

    folder: Path
    labelled: Labelled
    steps: int
    verdicts: Mapping[str, Sequence[Verdict]]
    refused: Mapping[str, Mapping[str, int]]
    simulated: bool | None
    reader: str

    @property
    def truths(self) -> Sequence[Truth]:
        """What is known of the cases."""
        return [truth for _, truth in self.labelled.cases]

    def accuracy(self, method: str, world: str = ALL, kind: str = ALL) -> Accuracy:
        """Return how a method fares on the episodes of a world and a kind."""
        pairs = zip(self.truths, self.verdicts[method], strict=True)
        kept = [(t, v) for t, v in pairs if world in (ALL, t.world) and kind in (ALL, t.kind)]
        return Accuracy.of(kept, self.steps)

    @property
    def groups(self) -> Sequence[tuple[str, str]]:
        """World and kind of each part of the table: all, each world, each kind, each of both."""
        truths = self.truths
        worlds, kinds = sorted({t.world for t in truths}), sorted({t.kind for t in truths})
        pairs = sorted({(t.world, t.kind) for t in truths})
        return list(dict.fromkeys([(ALL, ALL), *((w, ALL) for w in worlds), *((ALL, k) for k in kinds), *pairs]))

    def name(self, method: str) -> str:
        """What a method is called where it is shown."""
        return f"{method} (simulated)" if self.simulated and method.startswith(READER) else method

    def plain(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        scores = [
            {"method": self.name(method), "world": world, "kind": kind, **self.accuracy(method, world, kind).plain()}
            for method in self.verdicts
            for world, kind in self.groups
        ]
        episodes = [
            {
                "label": asdict(truth),
                "verdicts": [
                    {**said[index].plain(), "method": self.name(name)} for name, said in self.verdicts.items()
                ],
            }
            for index, truth in enumerate(self.truths)
        ]
        return {
            "folder": str(self.folder),
            "episodes": len(self.truths),
            "without_label": dict(self.labelled.without),
            "near": self.steps,
            "reader": self.reader or None,
            "simulated": self.simulated,
            "refused": {self.name(method): dict(why) for method, why in self.refused.items() if why},
            "scores": scores,
            "labelled": episodes,
        }

    def lines(self) -> Iterator[str]:
        """Tell it as tables."""
        yield f"{self.folder}: {len(self.truths)} labelled episodes"
        for reason, number in self.labelled.without.items():
            yield f"left out: {number} runs: {reason}"
        yield ""
        head = ("method", "agent", "step", f"step +-{self.steps}", "agent and step", "re-runs", "calls")
        yield from _table([head, *(self._row(method) for method in self.verdicts)])
        for title, index in (("world", 0), ("kind", 1)):
            groups = [g for g in self.groups if g[index] != ALL and g[1 - index] == ALL]
            yield ""
            yield f"agent and step by {title}"
            rows = [("method", *(f"{g[index]} ({self._size(*g)})" for g in groups))]
            for method in self.verdicts:
                rows.append((self.name(method), *(_told(self.accuracy(method, *g).both) for g in groups)))
            yield from _table(rows)
        for method, why in self.refused.items():
            for reason, number in why.items():
                yield f"{self.name(method)} says nothing of {number} episodes: {sanitize(reason, 300)}"

    def _size(self, world: str, kind: str) -> int:
        return sum(world in (ALL, truth.world) and kind in (ALL, truth.kind) for truth in self.truths)

    def _row(self, method: str) -> tuple[str, ...]:
        found = self.accuracy(method)
        shares = (_told(share) for share in (found.agent, found.step, found.near, found.both))
        return (self.name(method), *shares, f"{found.reruns:.1f}", f"{found.calls:.1f}")


def _told(share: Share) -> str:
    low, high = share.interval
    return f"{share.value:.3f} [{low:.3f}, {high:.3f}]"


def _table(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def score(
    folder: Path,
    methods: Sequence[str] = METHODS,
    *,
    steps: int = 5,
    model: Sequence[str] = (),
    config_dir: Path | None = None,
    told: Callable[[str], None] = lambda _: None,
) -> Scored:
    """Have methods judge all labelled episodes of a folder.

    Args:
        folder: of a sweep, or of one run.
        methods: their names; `search:MIND` has the decisions of that mind for right.
        steps: that a step may be off to count as near.
        model: `KEY=VALUE` of the reader's language model, and its budget; empty: the simulated one.
        config_dir: folder with more options of the groups.
        told: called with a line before each method begins.

    Raises:
        UserError: there is no such method, no labelled episode, or the reader cannot be asked.
    """
    for method in methods:
        _check(method)
    configuration = _reading(model, config_dir)
    found = labelled(folder)
    cases = [case for case, _ in found.cases]
    verdicts: dict[str, Sequence[Verdict]] = {}
    refused: dict[str, Counter[str]] = {}
    simulated: bool | None = None
    for method in dict.fromkeys(methods):
        told(f"{method}: {len(cases)} episodes{_most_calls(method, cases)}")
        if method.startswith(SEARCH):
            searched = [_searched(method, case, config_dir) for case in cases]
            verdicts[method] = [verdict for verdict, _ in searched]
            refused[method] = Counter(why for _, why in searched if why)
        elif method in READERS:
            procedure = Procedure(method.removeprefix(f"{READER}:"))
            verdicts[method], simulated = run_coroutine(_read(procedure, cases, configuration))
        else:
            verdicts[method] = [_judged(method, case) for case in cases]
    name = configuration.llm.label if simulated is not None else ""
    return Scored(folder, found, steps, verdicts, refused, simulated, name)


async def _read(
    procedure: Procedure, cases: Sequence[Case], configuration: Configuration
) -> tuple[Sequence[Verdict], bool]:
    """Have a reader judge; and say whether it is simulated.

    Raises:
        UserError: it cannot be asked, or its budget is used up.
    """
    pool = ModelPool()
    try:
        reader = Reader(EpisodeModels(configuration, pool, CallBooks(configuration, None))(READER))
        found = [await reader.read(procedure, Transcript.of(case.trace), case.scene) for case in cases]
        return found, reader.simulated
    except (LanguageModelError, EpisodeStop) as error:
        hint = model_hint(error, configuration.llm) if isinstance(error, LanguageModelError) else ""
        raise UserError(f"{READER}:{procedure}: the reader cannot go on: {error}", hint) from error
    finally:
        await pool.close()


def _most_calls(method: str, cases: Sequence[Case]) -> str:
    """Say how often a reader asks its model, at most."""
    if method not in READERS:
        return ""
    turns = [sum(isinstance(one.event, ThoughtEnd) for one in case.trace.events) for case in cases]
    most = {
        Procedure.ALL_AT_ONCE: len(cases),
        Procedure.STEP_BY_STEP: sum(turns),
        Procedure.BISECTION: sum(max(number - 1, 0).bit_length() for number in turns),
    }
    return f", {most[Procedure(method.removeprefix(f'{READER}:'))]} calls at most"


def _check(method: str) -> None:
    if method in (*METHODS, SEARCH) or (method.startswith(f"{SEARCH}:") and method != f"{SEARCH}:"):
        return
    raise UserError(f"--method {method}: there is no such method", choices_hint(method, "They are", METHODS))


def _reading(model: Sequence[str], config_dir: Path | None) -> Configuration:
    """Return a configuration whose language model is the reader's."""
    for word in model:
        if word.partition("=")[0].partition(".")[0] not in ("llm", "budget"):
            raise UserError(
                f"--set {word}: only the reader's model and its budget can be set", "For example: --set llm=openai"
            )
    return Cell.compose(["agents=naive", *model], config_dir).configuration


def _searched(method: str, case: Case, config_dir: Path | None) -> tuple[Verdict, str]:
    """Search a run by playing it again; and why that could not be done, if it could not."""
    by = method.partition(":")[2]
    try:
        found = blame(case.run, Question((by,) if by else (), shares=False, config_dir=config_dir))
    except UserError as error:
        return Verdict(method, None, None, reason=error.message), error.message.replace(f"{case.run}: ", "")
    return replace(found.verdict, method=method), ""


def _judged(method: str, case: Case) -> Verdict:
    """Judge by a method that neither asks a model nor plays again."""
    if method == RULES:
        return by_rules(case.trace)
    transcript = Transcript.of(case.trace)
    if method == FIRST:
        return by_first(transcript)
    return by_chance(transcript, Seeds(case.seed).child(CHANCE).generator())
