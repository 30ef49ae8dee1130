"""Whether a cell can begin: its parts build, its models can be reached from here, its first prompt can be written.

Nothing is sent and nothing is written. Rules and draws in a model's place are asked the first question. Servers are
connected to, if the pool is one that does, unless the cache has the answer.
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
from quorum.configuration.providers.chance import RandomConfig
from quorum.configuration.providers.config import ModelConfig, ProviderConfig
from quorum.configuration.providers.replay import ReplayConfig
from quorum.configuration.providers.replay import build as read_replay
from quorum.configuration.providers.simulated import SimulatedConfig
from quorum.configuration.registry import providers
from quorum.configuration.schema import Configuration
from quorum.episode.call_books import CallBooks
from quorum.episode.model_pool import ConnectingPool, ModelPool, QuestionReached, as_user_errors
from quorum.episode.models import EpisodeModels, sampling_of
from quorum.episode.parts import build, play
from quorum.episode.start import Start
from quorum.episode.watchdog import WatchedEpisode, command_watchdog
from quorum.installation.extension_errors import as_extension_error, extension_errors
from quorum_base.user_errors import UserError

_log = logging.getLogger(__name__)


class _Stepped(Exception):
    """The world has moved, and no model was asked before that."""


class _Listening:
    """Stands in the place of every model.

    Args:
        config: of the model.
        reached: connects to the server of the model; None for no connection.
    """

    def __init__(self, config: ModelConfig, reached: Model | None = None) -> None:
        self._config = config
        self._reached = reached

    async def complete(self, request: Request) -> Reply:
        with as_user_errors(self._config):
            if isinstance(self._config, SimulatedConfig | RandomConfig):
                values = self._config.model_copy(update={"latency": 0})
                model = providers.get(values.name).build(values, None)
                await model.complete(replace(request, sampling=sampling_of(self._config)))
            elif self._reached is not None:
                await self._reached.complete(request)
        raise QuestionReached


class FirstLook:
    """Looks at cells before they are run.

    Args:
        pool: makes the clients of providers, which takes their keys and packages; None: those are not looked for.
        money: whether the sweep has a budget of money, so that prices must be known.
    """

    def __init__(self, pool: ModelPool | None, *, money: bool = False) -> None:
        self._pool = pool
        self._money = money
        self._replayed: set[str] = set()

    async def at(self, cell: Cell) -> None:
        """Look at a cell.

        Raises:
            UserError: a component does not build, a key, a package or a price is missing, there is nothing to replay,
                a template cannot be filled in, the simulated model has no rules for what it is asked, or the code of
                a plug-in is wrong. What else goes wrong is the episode's to tell, with its traceback.
        """
        models = self._connecting(cell)

        def model(participant: str) -> Model:
            for role in cell.configuration.llm.special_roles:
                self._reach(cell.configuration, participant, role)
            config = self._reach(cell.configuration, participant)
            served = config.address is not None and not cell.configuration.fallbacks_of(config)
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
        except ValueError as error:
            if (mistake := as_extension_error(error)) is not None:
                raise mistake from error
            raise UserError(f"agents: {error}") from error
        except _Stepped:
            pass
        except Exception as error:
            if (mistake := as_extension_error(error)) is not None:
                raise mistake from error
            _log.debug("%s fails in its first turn", cell.name, exc_info=True)

    def at_start(self, cell: Cell, start: Start) -> None:
        """Check that the team of a cell can be built for its start.

        Raises:
            UserError: one of its minds cannot take part from such a start.
        """
        with extension_errors():
            parts = build(cell, lambda name: _Listening(cell.configuration.llm_of(name)), start)
            parts.world.close()

    def _connecting(self, cell: Cell) -> EpisodeModels | None:
        """Return the models of a cell, which go to the network no further than to a connection; None for none."""
        if not isinstance(self._pool, ConnectingPool):
            return None
        return EpisodeModels(cell.configuration, self._pool, CallBooks(cell.configuration, None), cell.name)

    def _reach(self, configuration: Configuration, participant: str, role: str = "") -> ModelConfig:
        """Look for what it takes to ask a participant's model in a role; return its values."""
        config = configuration.llm_of(participant, role)
        if isinstance(config, ReplayConfig) and config.run not in self._replayed:
            read_replay(config, None)
            self._replayed.add(config.run)
        for model in (config, *configuration.fallbacks_of(config)):
            self._check(model, configuration)
        return config

    def _check(self, config: ModelConfig, configuration: Configuration) -> None:
        if not isinstance(config, ProviderConfig) or self._pool is None:
            return
        client = self._pool.client(config)  # also where its price is known: it takes a key and a package
        price = config.price or client.model.price
        bounded = self._money or configuration.budget.usd is not None
        with as_user_errors(config):
            check_price(Budget(usd=0.0 if bounded else None), config.label, config.priced or bool(price))


def _stop_at_a_step(stamped: Stamped) -> None:
    if isinstance(stamped.event, StepTaken):
        raise _Stepped
