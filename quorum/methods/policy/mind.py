"""`agents=policy`: a policy trained on a world's environments plays its agents, one step at a time.

The policy is a NumPy `.npz` file with the weights of a multilayer perceptron, as written by
`examples/learners/ppo.py`:

| array | shape | meaning |
|---|---|---|
| `weight_0`, `weight_1`, ... | (inputs, outputs) | layer k: `tanh(x @ weight_k + bias_k)`; the last without `tanh` |
| `bias_0`, `bias_1`, ... | (outputs,) | |

The first layer takes the flattened observation (`maeil.mind.Arrays`); the last outputs one logit per action. All arrays
hold floating-point numbers of any precision. Nothing in the file is executed.
"""

from __future__ import annotations

import io
import os
import stat
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field

from maeil.component import Compatibility, Component, ComponentConfig, Handover, NamesFile, TeamContext
from maeil.mind import Mind, View
from maeil.plans import Plan
from maeil.world import GivesArrays, World
from quorum.agents.skills import CommandedMind, refuse_coordinator
from quorum_base.digests import digest
from quorum_base.user_errors import UserError

LARGEST = 64 * 2**20
"""Maximum size of a file, and of the weights in it, in bytes."""
_OWN = Path(__file__).parent

Floats = npt.NDArray[np.float64]
Layers = Sequence[tuple[Floats, Floats]]
"""Weight and bias of each layer."""


class PolicyConfig(ComponentConfig):
    """Settings of `policy`."""

    name: Literal["policy"]
    path: Annotated[Annotated[str, Field(min_length=1)], NamesFile()]
    """Path of the weights file, or the name of a policy shipped with Quorum."""
    choice: Literal["sampled", "greedy"]
    """`sampled`: draw actions from the policy's probabilities; `greedy`: take the most likely action."""


class Policy:
    """Chooses the actions of one agent.

    Args:
        layers: the layers of its network.
        world: converts action numbers to symbolic actions.
        path: path of the file, for messages.
        rng: draws the actions; None: take the most likely action.
    """

    def __init__(self, layers: Layers, world: GivesArrays, path: str, rng: np.random.Generator | None) -> None:
        self._layers = layers
        self._world = world
        self._path = path
        self._rng = rng

    def decide(self, view: View) -> Plan:
        """Return a plan for one step.

        Raises:
            UserError: the observation length does not match the policy.
        """
        assert view.arrays is not None
        observation, mask = view.arrays()
        problem = _misfit(self._layers, view.name, (observation.size, mask.size))
        if problem:
            raise UserError(f"{self._path}: {problem}")
        logits = np.where(mask == 1, self._logits(observation.ravel()), -np.inf)
        if self._rng is not None:
            logits += self._rng.gumbel(size=len(logits))  # Gumbel-max trick: the argmax is then a draw from the softmax
        return Plan((self._world.action_of(view.agent, int(logits.argmax())),), None, "learned")

    def _logits(self, values: npt.NDArray[np.floating]) -> Floats:
        *hidden, (weight, bias) = self._layers
        for own, offset in hidden:
            values = np.tanh(values @ own + offset)
        return np.asarray(values @ weight + bias, dtype=np.float64)


def build(config: PolicyConfig, context: TeamContext) -> Sequence[Mind]:
    """Build one mind per agent, each with its own random stream.

    Raises:
        ValueError: the file is not a policy, or does not fit the observations or actions; the world gives no arrays; or
            the topology requires a coordinator.
    """
    refuse_coordinator(config, context)
    world: World = context.world
    if not isinstance(world, GivesArrays):
        raise ValueError(f"agents={config.name}: the world '{world.name}' provides no arrays (maeil.world.GivesArrays)")
    layers = read_policy(config.path)
    minds = []
    for agent, name in enumerate(world.agents):
        if (context.own is None or agent in context.own) and (
            problem := _misfit(layers, name, world.array_sizes(agent))
        ):
            raise ValueError(f"path: {config.path}: {problem}")
        rng = context.seeds.child(agent).generator() if config.choice == "sampled" else None
        minds.append(CommandedMind(Policy(layers, world, config.path, rng).decide))
    return minds


def read_policy(path: str) -> Layers:
    """Read the layers of a policy.

    Args:
        path: path of its file, or the name of a policy shipped with Quorum.

    Raises:
        ValueError: the file cannot be read or is not a policy; the message gives the reason.
    """
    try:
        return _layers(_content(path))
    except (ValueError, KeyError, EOFError, MemoryError, zipfile.BadZipFile, zlib.error, NotImplementedError) as error:
        reason = str(error) if isinstance(error, ValueError) else "it is not an .npz file, or it is damaged"
        raise ValueError(f"path: {path}: {reason}") from error


def _layers(content: bytes) -> Layers:
    with zipfile.ZipFile(io.BytesIO(content)) as packed:
        if sum(part.file_size for part in packed.infolist()) > LARGEST:
            raise ValueError(f"its weights take more than {LARGEST:,} bytes")
    with np.load(io.BytesIO(content), allow_pickle=False) as held:
        arrays = {name: held[name] for name in held.files}
    count = len(arrays) // 2
    expected = {f"{part}_{k}" for k in range(count) for part in ("weight", "bias")}
    if not count or arrays.keys() != expected:
        raise ValueError(
            f"it contains {', '.join(sorted(arrays)) or 'nothing'}; a policy has weight_0, bias_0, weight_1, ..."
        )
    inputs: int | None = None
    for k in range(count):
        weight, bias = arrays[f"weight_{k}"], arrays[f"bias_{k}"]
        if not all(np.issubdtype(array.dtype, np.floating) and np.isfinite(array).all() for array in (weight, bias)):
            raise ValueError(f"weight_{k} and bias_{k} must be finite floating-point numbers")
        if weight.ndim != 2 or 0 in weight.shape or bias.shape != weight.shape[1:] or inputs not in (None, len(weight)):
            raise ValueError(f"weight_{k} has the shape {weight.shape} and bias_{k} {bias.shape}: they form no network")
        inputs = weight.shape[1]
    return [(arrays[f"weight_{k}"].astype(float), arrays[f"bias_{k}"].astype(float)) for k in range(count)]


def _content(path: str) -> bytes:
    own = {file.stem: file for file in sorted(_OWN.glob("*.npz"))}
    try:
        with open(os.open(own.get(path, path), os.O_RDONLY | os.O_NONBLOCK), "rb") as opened:
            if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
                raise ValueError("it is not a file")
            content = opened.read(LARGEST + 1)
    except OSError as error:
        hint = f"Give the path of a file, or one that comes with Quorum: {', '.join(own)}"
        raise ValueError(f"{error.strerror}. {hint}") from error
    if len(content) > LARGEST:
        raise ValueError(f"it is longer than {LARGEST:,} bytes")
    return content


def _misfit(layers: Layers, name: str, sizes: tuple[int, int]) -> str:
    """Return why a policy does not fit an agent's observation and action sizes; empty if it fits."""
    own = len(layers[0][0]), len(layers[-1][1])
    if own == sizes:
        return ""
    return (
        f"it takes {own[0]} numbers and chooses among {own[1]} actions, but {name} observes {sizes[0]} numbers and has "
        f"{sizes[1]} actions: it was learned for another world, team or board"
    )


def inputs(config: PolicyConfig, _world: str) -> Mapping[str, str]:
    """Return the digest of the file.

    Raises:
        ValueError: the file cannot be read.
    """
    try:
        return {"path": digest(_content(config.path))}
    except ValueError as error:
        raise ValueError(f"path: {config.path}: {error}") from error


component = Component(
    PolicyConfig,
    build,
    talks=False,
    inputs=inputs,
    compatible=Compatibility.ANYBODY,
    handover=Handover.SHADOW,
    draws=True,
)
