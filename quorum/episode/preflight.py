"""Checks that a cell can start: its components build, its models are reachable, its first prompt renders.

Nothing is sent and nothing is written. Simulated and random models get the first question. If the pool connects, this
connects to model servers unless the cache has the answer.
"""

from __future__ import annotations

import logging
from contextlib import nullcontext
from dataclasses import replace

from maeil.trace import Recorder, Stamped
from maeil.trace.events import StepTaken
from maeil.world import closing_world
from quorum.agents.llm.protocol import Model, Reply, Request
from quorum.agents.llm.spending import Budget, check_price
from quorum.configuration.cell import Cell
from quorum.configuration.providers.chance import FloorConfig
from quorum.configuration.providers.config import ModelConfig, ProviderConfig
from quorum.configuration.providers.replay import ReplayConfig
from quorum.configuration.providers.replay import build as read_replay
from quorum.configuration.providers.simulated import SimulatedConfig
from quorum.configuration.registry import providers
from quorum.configuration.schema import Configuration
from quorum.configuration.team_models import fallbacks_of
from quorum.episode.call_ledger import CallLedger
from quorum.episode.model_pool import ConnectingPool, ModelPool, QuestionReached, as_user_errors
from quorum.episode.models import EpisodeModels, sampling_of
from quorum.episode.parts import build, play
from quorum.episode.start import Start
from quorum.episode.watchdog import WatchedEpisode, command_watchdog
from quorum.installation.extension_errors import as_extension_error, extension_errors
from quorum_base.user_errors import UserError

_log = logging.getLogger(__name__)


class _Stepped(Exception):
    """The world has advanced before any model was called."""


class _Listening:
    """Replaces every model.

    Args:
        config: configuration of the model.
        reached: connects to the server of the model; None for no connection.
    """

    def __init__(self, config: ModelConfig, reached: Model | None = None) -> None:
        self._config = config
        self._reached = reached

    async def complete(self, request: Request) -> Reply:
        with as_user_errors(self._config):
            if isinstance(self._config, SimulatedConfig | FloorConfig):
                values = self._config.model_copy(update={"latency": 0})
                model = providers.get(values.name).build(values, None)
                await model.complete(replace(request, sampling=sampling_of(self._config)))
            elif self._reached is not None:
                await self._reached.complete(request)
        raise QuestionReached


class Preflight:
    """Checks cells before they run.

    Args:
        pool: creates the clients of providers, which needs their keys and packages; None: do not check those.
        money: whether the sweep has a budget in US dollars, so that prices must be known.
    """

    def __init__(self, pool: ModelPool | None, *, money: bool = False) -> None:
        self._pool = pool
        self._money = money
        self._replayed: set[str] = set()

    async def at(self, cell: Cell) -> None:
        """Check a cell.

        Raises:
            UserError: a component does not build, a key, package or price is missing, there is nothing to replay, a
                template cannot be rendered, the simulated model has no rules for a question, or a plugin's code is
                wrong. Other errors are left for the episode to report, with their traceback.
        """
        models = self._connecting(cell)

        def model(participant: str) -> Model:
            for role in cell.configuration.llm.special_roles:
                self._reach(cell.configuration, participant, role)
            config = self._reach(cell.configuration, participant)
            served = config.address is not None and not fallbacks_of(config)
            return _Listening(config, models(participant) if models is not None and served else None)

        watchdog = command_watchdog()
        try:
            with watchdog.watching(WatchedEpisode(cell)) if watchdog is not None else nullcontext():
                parts = build(cell, model)
                with closing_world(parts.world):
                    if cell.configuration.uses_models:
                        await play(cell, parts, Recorder(None, [_stop_at_a_step]))
        except UserError:
            raise
        except _Stepped:
            pass
        except Exception as error:
            if (mistake := as_extension_error(error)) is not None:
                raise mistake from error
            if isinstance(error, ValueError):
                raise UserError(f"agents: {error}") from error
            _log.debug("%s fails in its first turn", cell.name, exc_info=True)

    def at_start(self, cell: Cell, start: Start) -> None:
        """Check that the team of a cell can be built for its start.

        Raises:
            UserError: one of its minds does not support such a start.
        """
        with extension_errors():
            parts = build(cell, lambda name: _Listening(cell.configuration.llm_of(name)), start)
            parts.world.close()

    def _connecting(self, cell: Cell) -> EpisodeModels | None:
        """Return the models of a cell, which at most open a network connection; None without a pool."""
        if not isinstance(self._pool, ConnectingPool):
            return None
        return EpisodeModels(cell.configuration, self._pool, CallLedger(cell.configuration, None), cell.name)

    def _reach(self, configuration: Configuration, participant: str, role: str = "") -> ModelConfig:
        """Check that a participant's model for a role is available; return its configuration."""
        config = configuration.llm_of(participant, role)
        if isinstance(config, ReplayConfig) and config.run not in self._replayed:
            read_replay(config, None)
            self._replayed.add(config.run)
        for model in (config, *fallbacks_of(config)):
            self._check(model, configuration)
        return config

    def _check(self, config: ModelConfig, configuration: Configuration) -> None:
        if not isinstance(config, ProviderConfig) or self._pool is None:
            return
        client = self._pool.client(config)  # even if its price is known: it needs a key and a package
        price = config.price or client.model.price
        bounded = self._money or configuration.budget.usd is not None
        with as_user_errors(config):
            check_price(Budget(usd=0.0 if bounded else None), config.label, config.priced or bool(price))


def _stop_at_a_step(stamped: Stamped) -> None:
    if isinstance(stamped.event, StepTaken):
        raise _Stepped
