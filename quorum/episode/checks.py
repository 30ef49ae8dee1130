"""The checks of `quorum check`."""

from __future__ import annotations

import asyncio
import os
import platform
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import quorum_harness
from quorum.agents.llm.embeddings import EMBEDDING, EMBEDDINGS
from quorum.agents.llm.errors import AnswerInvalid, LanguageModelError
from quorum.agents.llm.prices import OLD, Priced, days_old, price_lists
from quorum.agents.llm.protocol import AnswerFormat, ChatMessage, ChatRole, Reply, Request
from quorum.agents.llm.stack import build_stack
from quorum.configuration.option_folders import ConfigDir
from quorum.configuration.providers import replay
from quorum.configuration.providers.config import ModelConfig, ProviderConfig
from quorum.episode.model_pool import ModelPool, model_hint
from quorum.episode.models import sampling_of
from quorum.installation.packages import DISTRIBUTION, Needed, owners, requirements
from quorum.installation.version import __version__
from quorum.storage.outputs import require_writable
from quorum_base.user_errors import UserError

if TYPE_CHECKING:
    from quorum.configuration.cell import Cell
    from quorum.configuration.schema import Configuration


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check.

    Attributes:
        subject: what was checked.
        fine: whether it passed.
        needed: whether nothing runs without it.
        detail: what was found, and what to do about it.
    """

    subject: str
    fine: bool
    needed: bool
    detail: str


def check(arguments: Sequence[str], out: Path, config_dir: ConfigDir, *, compiled: bool = False) -> Iterator[Finding]:
    """Check the interpreter, the packages, the results folder and the configuration.

    Args:
        arguments: arguments of the configuration.
        out: the folder for results.
        config_dir: folders with more group options.
        compiled: compile all kernels.
    """
    yield Finding("python", sys.version_info >= (3, 11), True, platform.python_version())
    yield from _packages(requirements())
    yield from _other_owners()
    yield _writable(out)
    if compiled:
        yield _kernels()
    yield from _configuration(arguments, config_dir)


def _kernels() -> Finding:
    from quorum.episode.rehearsal import compile_all  # noqa: PLC0415
    from quorum_base.compilation.cache import NoFolder, cache_folder  # noqa: PLC0415 (Numba)

    seconds = compile_all()
    try:
        return Finding("kernels", True, False, f"compiled ({seconds:.0f} s), and kept in {cache_folder()}")
    except NoFolder as reason:
        return Finding("kernels", False, False, f"compiled ({seconds:.0f} s), but not kept: {reason}")


def _packages(needed: Sequence[Needed]) -> Iterator[Finding]:
    if not needed:
        yield Finding(DISTRIBUTION, False, False, f"{__version__}, not installed: pip install -e .")
    else:
        yield Finding(DISTRIBUTION, True, True, __version__)
    for extra, members in groupby(sorted(needed, key=lambda r: (r.extra, r.name.lower())), key=lambda r: r.extra):
        if extra:
            yield _extra(extra, list(members))
        else:
            yield from (_package(requirement) for requirement in members)


def _other_owners() -> Iterator[Finding]:
    if others := sorted({owner.name for owner in owners("quorum")["quorum"]} - {DISTRIBUTION}):
        folder = Path(quorum_harness.__file__).with_name("quorum")
        yield Finding(
            "module quorum", False, True, quorum_harness.message(folder, [f"files ({name})" for name in others])
        )


def _package(requirement: Needed) -> Finding:
    if requirement.fits:
        return Finding(requirement.name, True, True, str(requirement.installed))
    found = f"{requirement.installed} is installed, " if requirement.installed else "missing, "
    install = f"pip install '{requirement.name}{requirement.wanted}'"
    return Finding(requirement.name, False, True, f"{found}{requirement.wanted} is needed: {install}")


def _extra(extra: str, members: Sequence[Needed]) -> Finding:
    missing = [requirement for requirement in members if not requirement.fits]
    if not missing:
        versions = ", ".join(f"{requirement.name} {requirement.installed}" for requirement in members)
        return Finding(f"[{extra}]", True, False, versions)
    names = ", ".join(requirement.name for requirement in missing)
    return Finding(f"[{extra}]", False, False, f"without {names}: pip install '{DISTRIBUTION}[{extra}]'")


def price_findings(today: date) -> Iterator[Finding]:
    """Check the price list of each provider.

    Args:
        today: the date from which to compute their ages.
    """
    for provider, known in price_lists().items():
        age = price_age(known.date, today)
        why = f"; not known: {', '.join(known.unpriced)}" if known.unpriced else ""
        detail = f"{len(known.models)} models, prices of {known.date} ({age}), from {known.source}{why}"
        yield Finding(provider, days_old(known.date, today) <= OLD, False, detail)


def price_age(day: str, today: date) -> str:
    """Describe the age of a price, and what to do if it is old."""
    days = days_old(day, today)
    return f"{days} days old" + (": check it, and set yours by llm.prices" if days > OLD else "")


def _writable(out: Path) -> Finding:
    """Try to write to the nearest existing folder, and leave nothing behind."""
    try:
        require_writable(out, str(out))
    except UserError as error:
        return Finding("--out", False, True, error.message)
    return Finding("--out", True, True, f"{out}{os.sep} can be written")


def _configuration(arguments: Sequence[str], config_dir: ConfigDir) -> Iterator[Finding]:
    from quorum.configuration.cell import Cell  # noqa: PLC0415 - so that a missing package is reported above, not raised here

    try:
        cell = Cell.compose(arguments, config_dir)
    except UserError as error:
        yield Finding("configuration", False, True, str(error))
        return
    try:
        asyncio.run(_look_at(cell))
        yield Finding("configuration", True, True, f"{cell.name} composes, builds, and can begin")
    except UserError as error:
        yield Finding("configuration", False, True, str(error))
    if any(argument.lstrip("+~").partition("=")[0].split(".")[0] == "llm" for argument in arguments):
        yield from _models(cell.configuration)


async def _look_at(cell: Cell) -> None:
    """Check a cell as a sweep does before it starts: build it, and play up to the first model call."""
    from quorum.episode.preflight import Preflight  # noqa: PLC0415

    async with ModelPool() as pool:
        await Preflight(pool).at(cell)


def _models(configuration: Configuration) -> Iterator[Finding]:
    """Call each language model once, including those of single agents and roles."""
    for key, config in {"llm": configuration.llm, **configuration.special_models}.items():
        fine, detail = try_model(config, embeds=key.startswith(f"llm.roles.{EMBEDDING}"))
        yield Finding(key, fine, True, detail)


_OK = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"], "additionalProperties": False}
FORM = AnswerFormat("check", _OK)
PROMPT = 'Answer with this JSON object and nothing else: {"ok": true}'


def try_model(config: ModelConfig, *, embeds: bool = False) -> tuple[bool, str]:
    """Call a model once, without retries; return whether it works, and the finding or how to fix it.

    Args:
        config: configuration of the model.
        embeds: whether to request embeddings.
    """
    try:
        if isinstance(config, replay.ReplayConfig):
            replay.build(config, None)
            return True, f"the calls of {config.run} can be replayed"
        assert isinstance(config, ProviderConfig)
        return True, _found(config, asyncio.run(_ask(config, EMBEDDINGS if embeds else FORM)))
    except UserError as error:
        return False, f"{error.message.removeprefix('llm: ')}. {error.hint}".strip()
    except LanguageModelError as error:
        what = f"no structured output: {error}" if isinstance(error, AnswerInvalid) else str(error)
        return False, f"{config.label}: {what.removesuffix('.')}. {model_hint(error, config)}".strip()


async def _ask(config: ProviderConfig, form: AnswerFormat) -> Reply:
    async with ModelPool() as pool:
        client = pool.client(config)
        found, price = pool.model(client), config.price or client.model.price
        priced = found if price is None else Priced(found, price)
        model = build_stack(priced, name=config.label, max_repairs=0)
        return await model.complete(Request((ChatMessage(ChatRole.USER, PROMPT),), form, sampling_of(config)))


def _found(config: ProviderConfig, reply: Reply) -> str:
    tokens = reply.usage.prompt + reply.usage.completion
    day = config.price.date if config.price is not None else ""
    age = f" at prices of {day} ({price_age(day, date.today())})" if day else ""
    money = "price unknown" if reply.usd is None else f"{reply.usd:.2g} USD{age}"
    simulated = ", simulated" if reply.simulated else ""
    dropped = f", not sent: {', '.join(reply.not_sent)}" if reply.not_sent else ""
    return f"{config.label} answers in {reply.seconds:.1f} s with {tokens} tokens, {money}{dropped}{simulated}"
