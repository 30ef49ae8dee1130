"""Plays the episodes of one configuration with a policy in some seats."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from maeil.trace import Stamped, Trace
from maeil.world import closing_world
from quorum.agents.llm.errors import LanguageModelError
from quorum.agents.llm.replay import Replay
from quorum.configuration.cell import Cell
from quorum.configuration.default_agents import completed
from quorum.configuration.members import MEMBERS
from quorum.configuration.plugins import load_plugins
from quorum.configuration.providers.config import ProviderConfig
from quorum.configuration.team_label import minds_in
from quorum.episode.call_ledger import CallLedger
from quorum.episode.in_memory import play_in_pool
from quorum.episode.model_pool import ModelPool, model_hint
from quorum.episode.models import EpisodeModels
from quorum.episode.parts import build
from quorum.episode.rehearsal import rehearse
from quorum.episode.start import Start
from quorum.installation.extension_errors import extension_errors
from quorum.train.episodes import Episode, Reward, Seat, constraints_met, rewards_per_step, team_reward
from quorum.train.policy import Call, Hearing, Policy, SeatPool
from quorum_base.user_errors import UserError, choices_hint


@dataclass(frozen=True, slots=True)
class Setting:
    """Everything that determines the episodes except their boards and draws; worker processes get a copy.

    Attributes:
        overrides: the configuration, `KEY=VALUE` each.
        policy: plays the seats; None: the configured model of each seat is the policy.
        seats: participants that ask the policy; empty: all that ask a model.
        difference: whether to play the episodes for `Reward.difference`.
        plugins: modules that register components.
        config_dir: folders with more options.
    """

    overrides: tuple[str, ...]
    policy: Policy | None
    seats: tuple[str, ...] = ()
    difference: bool = False
    plugins: tuple[str, ...] = ()
    config_dir: tuple[Path, ...] = ()


@dataclass(frozen=True)
class _Seated(Start):
    """The start of an episode in which seats ask the policy."""

    hearing: Hearing = field(kw_only=True)

    def models(
        self, cell: Cell, pool: ModelPool, books: CallLedger, recorded: Replay | None = None
    ) -> Callable[[str], Any]:
        return EpisodeModels(cell.configuration, SeatPool(pool, self.hearing), books, cell.name, recorded)


class Players:
    """Plays the episodes of a setting. Hydra composes once, and once more for each seat with a difference reward.

    Args:
        setting: the setting.

    Raises:
        UserError: the configuration is not valid, or a seat asks no model.
    """

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        load_plugins(setting.plugins)
        self._cell = self._composed()
        if self._cell.configuration.memory.store is not None:
            raise UserError("memory.store: rollouts keep no memory of single runs", "Leave it out.")
        for mind in minds_in(self._cell.plain["agents"]):
            rehearse(self._cell.configuration.env.name, mind)
        self._names, asking = self._participants()
        for name in setting.seats:
            if name not in asking:
                raise UserError(
                    f"seats: {name} asks no model in this team", choices_hint(name, "Those that do", asking)
                )
        self._seats = tuple(name for name in asking if name in (setting.seats or asking))
        if not self._seats:
            team = self._cell.configuration.team_label
            raise UserError(f"seats: agents={team} asks no model", "Choose minds that do, such as agents=naive.")
        for name in self._seats:
            if not isinstance(config := self._cell.configuration.llm_of(name), ProviderConfig):
                raise UserError(f"llm={config.name}: the policy cannot take its place", "Leave it out.")
        idle = self._seats if setting.difference else ()
        self._idle = {seat: self._composed(f"agents.{MEMBERS}.{seat}=idle") for seat in idle}

    def _composed(self, *more: str) -> Cell:
        with extension_errors():
            return Cell.compose([*completed(self._setting.overrides), *more], self._setting.config_dir)

    def _participants(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the names of all participants, and of those that ask a model."""
        asked: dict[str, object] = {}
        with extension_errors():
            parts = build(self._cell, lambda name: asked.setdefault(name, object()))
        with closing_world(parts.world):
            names = (*parts.world.agents, *(name for name, _ in parts.coordinators))
        return names, tuple(name for name in names if name in asked)

    @cached_property
    def _limit(self) -> int:
        configuration = self._cell.configuration
        return int(getattr(configuration.env, "max_steps", configuration.max_steps))

    async def play(self, pool: ModelPool, board: int, draw: int) -> Episode:
        """Play an episode, and the episodes for its difference rewards.

        Args:
            pool: models of the process.
            board: seed of the board.
            draw: number of the episode among those of the board.

        Raises:
            UserError: a model refuses requests or cannot be used, or the policy returned no answer.
            Exception: any error of the policy, or of a component.
        """
        trace, calls = await self._trace(self._cell, pool, board, draw)
        team = team_reward(trace, self._limit)
        lost = {}
        for seat, cell in self._idle.items():
            without, _ = await self._trace(cell, pool, board, draw, idle=seat)
            lost[seat] = team - team_reward(without, self._limit)
        seats = {
            name: Seat(
                calls[name],
                Reward(team, rewards_per_step(trace, index), lost.get(name), constraints_met(trace, index)),
            )
            for index, name in enumerate(self._names)
            if name in self._seats
        }
        return Episode(board, draw, seats, trace.events)

    async def _trace(
        self, cell: Cell, pool: ModelPool, board: int, draw: int, *, idle: str = ""
    ) -> tuple[Trace, Mapping[str, list[Call]]]:
        """Play one episode; return its trace and the calls of the seats."""
        one = cell.alike({**cell.plain, "seed": board, "draw": draw})
        calls: dict[str, list[Call]] = {name: [] for name in self._seats if name != idle}
        start = _Seated(hearing=Hearing(self._setting.policy, calls, board, draw, idle))
        events: list[Stamped] = []
        try:
            await play_in_pool(one, [events.append], pool, start=start)
        except LanguageModelError as error:
            raise UserError(f"llm: {error}", model_hint(error, one.configuration.llm)) from error
        return Trace(tuple(events)), calls
