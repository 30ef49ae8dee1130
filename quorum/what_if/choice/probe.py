"""Measure the choices of language models at the decisions of recorded runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from maeil.errors import EpisodeStop
from maeil.together import together
from quorum.agents.llm.errors import AnswerInvalid, BudgetReached, LanguageModelError
from quorum.agents.llm.protocol import AnswerFormat, Model, Request, TokenLogprobs
from quorum.configuration.compose import Composer
from quorum.configuration.edits import edited
from quorum.configuration.option_folders import ConfigDir
from quorum.configuration.providers.config import ProviderConfig
from quorum.configuration.providers.replay import ReplayConfig
from quorum.configuration.schema import Configuration, validate
from quorum.episode.call_ledger import CallLedger
from quorum.episode.model_pool import ModelPool, model_hint
from quorum.episode.models import EpisodeModels
from quorum.episode.substitute import asks_real_models
from quorum.process.event_loop import run_coroutine
from quorum.runs.run_folder import is_run
from quorum.sweeps.grid import axes, points
from quorum.what_if.branch.branches import runs_of, varied
from quorum.what_if.branch.change import Change, instant_of
from quorum.what_if.branch.parent import Parent
from quorum.what_if.choice.arms import Donor
from quorum.what_if.choice.decisions import Decision, decisions_of
from quorum.what_if.choice.probabilities import REQUESTED, Distribution, NoChoice, distribution, narrowed
from quorum_base.user_errors import UserError

OPTION = "--probe choice"
_SERVICES = "These services give them: llm=llamacpp, llm=vllm, and llm=openai for models that do not think."


@dataclass(frozen=True, slots=True)
class Question:
    """What to measure.

    Attributes:
        folders: runs, and sweeps, which include all of their runs that did not fail.
        words: `KEY=VALUES` of the models that answer, as a grid; empty: the model of each run.
        at: the instants of the decisions; empty: all.
        budget: limits of all calls: `usd`, `tokens` and `calls`; None for no limit.
        config_dir: folders with more options of the groups.
    """

    folders: tuple[Path, ...]
    words: tuple[str, ...] = ()
    at: tuple[str, ...] = ()
    budget: Mapping[str, float | None] = field(default_factory=dict)
    config_dir: ConfigDir = ()


@dataclass(frozen=True, slots=True)
class Asked:
    """The decisions of a run, and the model that makes them again.

    Attributes:
        model: name of the model, or what distinguishes it from the others of the probe.
        configuration: the configuration of the run with this model.
        decisions: the decisions.
    """

    model: str
    configuration: Configuration
    decisions: Sequence[Decision]


@dataclass(frozen=True, slots=True)
class Measured:
    """A decision with the probabilities of its choices.

    Attributes:
        model: as in `Asked`.
        decision: the decision.
        arms: the distribution of each arm.
    """

    model: str
    decision: Decision
    arms: Mapping[str, Distribution]


def plan(question: Question) -> list[Asked]:
    """Replay the runs, and collect their decisions with the prompts of all arms. Nothing is sent to a model.

    Raises:
        UserError: there is no such run, a word is invalid, no model can be asked, or there are no decisions.
    """
    grid = axes(question.words, Composer(question.config_dir))
    edits = [tuple(override.input_line or "" for override in point) for point in points(grid)]
    changes = [Change(words, config_dir=question.config_dir) for words in edits]
    sweeps: dict[Path, list[Parent]] = {}
    for folder in question.folders:
        for run in runs_of([folder]):
            sweeps.setdefault((folder.parent if is_run(folder) else folder).resolve(), []).append(Parent.open(run))
    found = []
    for sweep, parents in sweeps.items():
        for parent, change in ((parent, change) for change in changes for parent in parents):
            after = _with_model(parent, change)
            names = (
                sweep.name if len(sweeps) > 1 else "",
                varied(change, grid).replace("\\", ""),
            )  # without the escapes of Hydra
            decisions = run_coroutine(_decisions(parent, after, question.at, [*_donors(parent, parents)]))
            found.append(Asked(" ".join(filter(None, names)) or after.llm.label, after, decisions))
    if not any(asked.decisions for asked in found):
        raise UserError(
            f"{OPTION}: in no turn does an agent make a new plan after a message that names one of several tasks",
            "Probe a team that talks: topology=debate, topology=centralized.",
        )
    return found


def _donors(parent: Parent, parents: Sequence[Parent]) -> Iterator[Donor]:
    """Yield the messages of the other boards."""
    for other in parents:
        if other.configuration.seed != parent.configuration.seed:
            for life in other.episode.story.messages:
                yield Donor(life.sent.t, life.message.sender, life.message.content)


def _with_model(parent: Parent, change: Change) -> Configuration:
    """Return the configuration of a run with the model of a change, which answers with log-probabilities.

    Raises:
        UserError: the change is not possible, or no language model answers.
    """
    before = parent.configuration
    after = before
    if change.edits:
        after = validate(edited(before.to_json(), change.edits, change.config_dir), recorded=True)
    if after.topology != before.topology:
        raise UserError(f"{OPTION} topology={after.topology.name}: the messages are those of the run", "Leave it out.")
    config = after.llm
    if not asks_real_models(after) or isinstance(config, ReplayConfig) or not isinstance(config, ProviderConfig):
        raise UserError(
            f"{OPTION}: {parent.name}: llm={config.name} gives no log-probabilities",
            _SERVICES,
        )
    body = {**config.extra_body, **REQUESTED}
    llm = config.model_copy(update={"temperature": 0, "extra_body": body})
    return after.model_copy(update={"llm": llm})


async def _decisions(
    parent: Parent, after: Configuration, at: Sequence[str], donors: Sequence[Donor]
) -> list[Decision]:
    async with ModelPool() as pool:
        return await decisions_of(parent, after, [*map(instant_of, at)], donors, pool)


def counts(planned: Sequence[Asked]) -> dict[str, int]:
    """Return the numbers of models, decisions and requests; choices that share tokens take more requests."""
    decisions = [one for asked in planned for one in asked.decisions]
    requests = sum(len({request.messages for request in one.requests.values()}) for one in decisions)
    return {"models": len({one.model for one in planned}), "decisions": len(decisions), "requests": requests}


def measure(
    planned: Sequence[Asked], question: Question, after_each: Callable[[], None] = lambda: None
) -> list[Measured]:
    """Ask the models.

    Args:
        planned: the decisions.
        question: has the budget.
        after_each: called after each decision.

    Returns:
        The decisions that the budget allows, and whose answers show a choice in all arms. Several models have the names
        that their services report, if these differ.

    Raises:
        UserError: there is no budget, a model cannot be asked, its service gives no log-probabilities, or no decision
            could be measured.
    """
    limits = {kind: limit for kind, limit in question.budget.items() if limit is not None}
    if not limits:
        raise UserError(
            f"{OPTION}: this calls a language model {counts(planned)['requests']:,} times or more",
            "Set a limit: --budget-calls N, --budget-tokens N or --budget-usd X.",
        )
    first = planned[0].configuration
    budget = first.budget.model_copy(update={"usd": None, "tokens": None, "calls": None, **limits})
    books = CallLedger(first.model_copy(update={"budget": budget}), None)
    found, reported = run_coroutine(_measure(planned, books, after_each))
    if not found:
        raise UserError(f"{OPTION}: the budget is too small for one decision, or no answer shows a choice", _SERVICES)
    names = {label: "".join(models) for label, models in reported.items() if len(models) == 1}
    if 1 < len(reported) == len({*names.values()}):
        return [replace(one, model=names[one.model]) for one in found]
    return found


async def _measure(
    planned: Sequence[Asked], books: CallLedger, after_each: Callable[[], None]
) -> tuple[list[Measured], Mapping[str, set[str]]]:
    """Measure one decision after another, so that a budget buys whole decisions; the arms of each at once.

    Returns:
        The measured decisions, and the names that services report, by the model of `Asked`.
    """
    found: list[Measured] = []
    reported: dict[str, set[str]] = {}
    async with ModelPool() as pool:
        for asked in planned:
            models = EpisodeModels(asked.configuration, pool, books)
            for decision in asked.decisions:
                try:
                    arms = await _arms(decision, models, reported.setdefault(asked.model, set()))
                    found.append(Measured(asked.model, decision, arms))
                except BudgetReached:
                    return found, reported
                except (AnswerInvalid, NoChoice):
                    pass
                except (LanguageModelError, EpisodeStop) as error:
                    hint = model_hint(error, asked.configuration.llm) or _SERVICES
                    raise UserError(f"{OPTION}: {asked.configuration.llm.label}: {error}", hint) from error
                after_each()
    return found, reported


async def _arms(decision: Decision, models: EpisodeModels, reported: set[str]) -> Mapping[str, Distribution]:
    """Return the distribution of each arm, and add the name that the model reports; equal prompts share a request."""
    heard, model = decision.heard, models(decision.agent)
    requests = {request.messages: request for request in decision.requests.values()}
    asks = [partial(_tokens, model, request, heard.kind, reported) for request in requests.values()]
    answers = await together([partial(distribution, ask, heard.choices) for ask in asks])
    found = dict(zip(requests, answers, strict=True))
    return {arm: found[request.messages] for arm, request in decision.requests.items()}


async def _tokens(
    model: Model, request: Request, kind: str, reported: set[str], choices: Sequence[str]
) -> Sequence[TokenLogprobs]:
    """Return the tokens of an answer whose target is one of some choices."""
    schema = narrowed(request.answer.schema, kind, choices) if request.answer is not None else None
    if schema is None:
        raise NoChoice("the answer has no task")
    reply = await model.complete(replace(request, answer=AnswerFormat("choice", schema, in_words=True)))
    if not reply.logprobs:
        raise UserError(f"{OPTION}: {reply.model}: its service gives no log-probabilities of tokens", _SERVICES)
    if reply.repairs:
        raise NoChoice("the service does not decode by the schema")
    reported.add(reply.model)
    return reply.logprobs
