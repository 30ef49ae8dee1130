"""Blame without re-runs: by the rules of failures, or by a language model that reads the transcript of the run."""

from __future__ import annotations

from pathlib import Path

from maeil.errors import EpisodeStop
from maeil.trace import Trace
from quorum.agents.llm.errors import BudgetReached, LanguageModelError
from quorum.agents.prompting.vocabulary import describe, tell
from quorum.configuration.cell import Cell
from quorum.configuration.registry import worlds
from quorum.configuration.schema import Configuration, validate
from quorum.episode.building import call_component
from quorum.episode.call_ledger import CallLedger
from quorum.episode.model_pool import ModelPool, model_hint
from quorum.episode.models import EpisodeModels
from quorum.process.event_loop import run_coroutine
from quorum.runs.run_folder import RunFolder, read_whole_trace
from quorum.runs.transcript import Transcript
from quorum.what_if.blame.answer import Blame, Question
from quorum.what_if.blame.ending import ending_of
from quorum.what_if.blame.reader import READER, Procedure, Reader, Scene
from quorum.what_if.blame.reference import asks_real
from quorum.what_if.blame.verdict import RULES, Verdict, by_rules
from quorum_base.user_errors import UserError

PROCEDURES = tuple(f"{READER}:{procedure}" for procedure in Procedure)
"""The methods that use a language model."""


def judge(run: Path, question: Question) -> Blame:
    """Judge a run by its trace alone.

    Args:
        run: its folder.
        question: with a method other than the search; `by` holds `KEY=VALUE` of the reader's model.

    Raises:
        UserError: the run cannot be read, or the reader's model cannot be called.
    """
    trace = read_whole_trace(run)
    ending = ending_of(trace)
    if question.success.met(ending):
        return Blame.of_success(run, question, "", ending)
    if question.method == RULES:
        return Blame(run, question, "", ending, failed=True, verdict=by_rules(trace))
    configuration = reading(question)
    books = CallLedger(configuration, None)
    procedure = Procedure(question.method.removeprefix(f"{READER}:"))
    verdict = run_coroutine(_read(run, trace, procedure, books, configuration))
    spent, label = books.spending, configuration.llm.label
    return Blame(
        run,
        question,
        label,
        ending,
        failed=True,
        verdict=verdict,
        exact=False,
        calls=spent.calls,
        usd=spent.usd,
        tokens=spent.tokens,
    )


def reading(question: Question, *, dry: bool = False) -> Configuration:
    """Return a configuration with the reader's language model.

    Args:
        question: with the model and its budget.
        dry: whether to make no calls, so that a paid model needs no budget.

    Raises:
        UserError: the reference is not a model, or a paid model has no budget.
    """
    for word in question.by:
        if word.partition("=")[0].partition(".")[0] != "llm":
            raise UserError(f"--reference {word}: a reader is a language model", "For example: --reference llm=openai.")
    most = question.budget
    budget = {"calls": most.calls, "tokens": most.tokens, "usd": most.usd}
    if 0 in budget.values():
        raise UserError(f"--method {question.method}: earlier runs used up the budget")
    limits = [f"budget.{kind}={limit}" for kind, limit in budget.items() if limit is not None]
    found = Cell.compose(["agents=naive", *question.by, *limits], question.config_dir).configuration
    if asks_real(found) and not limits and not dry:
        raise UserError(
            f"--method {question.method}: this calls a paid language model",
            "Set a limit: --budget-calls N, --budget-tokens N or --budget-usd X.",
        )
    return found


async def _read(
    run: Path, trace: Trace, procedure: Procedure, books: CallLedger, configuration: Configuration
) -> Verdict:
    played = validate(RunFolder(run).configuration(), recorded=True)
    world = call_component(worlds.group, worlds.get(played.env.name).build, played.env, None)
    scene = Scene(world.name, tell(describe(world.vocabulary, world.agents)), played.max_steps)
    try:
        async with ModelPool() as pool:
            model = EpisodeModels(configuration, pool, books)(READER)
            return await Reader(model, procedure, Transcript.of(trace), scene).read()
    except BudgetReached as error:
        return Verdict(f"{READER}:{procedure}", None, None, reason=f"the budget ended the reading: {error}")
    except (LanguageModelError, EpisodeStop) as error:
        raise unreadable(procedure, error, configuration) from error


def unreadable(
    procedure: Procedure, error: LanguageModelError | EpisodeStop, configuration: Configuration
) -> UserError:
    """Return the error that a reader cannot continue."""
    hint = model_hint(error, configuration.llm) if isinstance(error, LanguageModelError) else ""
    return UserError(f"{READER}:{procedure}: the reader cannot continue: {error}", hint)
