"""A learned policy plays as it was learned: on the arrays and by the actions of the environment, from a file."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from cube_env import CubeEnv, FlatObservations
from cube_env.world import CubeWorld
from maeil.mind import View
from maeil.trace import Recorder, Stamped
from maeil.trace.events import EpisodeEnd, Event, StepTaken
from quorum.configuration.cell import Cell
from quorum.episode.building import no_models
from quorum.episode.parts import build, play
from quorum_base.user_errors import UserError
from tests.conftest import ROOT

TEAM = ("agents=policy", "n=2", "max_steps=30")
POLICIES = ROOT / "quorum" / "methods" / "policy"


def weights(seed: int, *sizes: int) -> dict[str, np.ndarray]:
    """A network of random weights."""
    rng, found = np.random.default_rng(seed), {}
    for k, shape in enumerate(pairwise(sizes)):
        found |= {f"weight_{k}": 20 * rng.normal(size=shape), f"bias_{k}": rng.normal(size=shape[1])}
    return found


def saved(file: Path, seed: int = 0, *sizes: int) -> Path:
    np.savez(file, **weights(seed, *(sizes or (20, 16, 5))))
    return file


def events_of(*words: str) -> list[Event]:
    """What happens in an episode."""
    cell = Cell.compose(words)
    events: list[Stamped] = []
    with Recorder(None, [events.append]) as recorder:
        asyncio.run(play(cell, build(cell, no_models), recorder))
    return [one.event for one in events]


def solved(seeds: range, *words: str) -> int:
    """How many of some boards a team solves."""
    ends = [events_of(*words, f"seed={seed}")[-1] for seed in seeds]
    return sum(isinstance(end, EpisodeEnd) and end.outcome == "success" for end in ends)


def joints(*words: str) -> list[tuple[int, ...]]:
    """The joint actions of an episode of the team."""
    return [tuple(event.joint) for event in events_of(*TEAM, *words) if isinstance(event, StepTaken)]


@pytest.mark.parametrize("vocabulary", ["cube", "emcoop"])
def test_it_does_what_it_does_in_the_environment_that_it_was_learned_on(vocabulary: str) -> None:
    played = joints("agents.choice=greedy", "seed=3", f"env.vocabulary={vocabulary}")
    with np.load(POLICIES / "cube_n2.npz") as held:
        layers = [(held[f"weight_{k}"].astype(float), held[f"bias_{k}"].astype(float)) for k in range(3)]
    env = FlatObservations(CubeEnv(n=2, max_steps=30))
    observations, infos = env.reset(seed=3)
    expected = []
    while env.agents:
        actions = {}
        for agent, values in observations.items():
            for weight, bias in layers[:-1]:
                values = np.tanh(values @ weight + bias)  # noqa: PLW2901
            logits = values @ layers[-1][0] + layers[-1][1]
            actions[agent] = max(np.flatnonzero(infos[agent]["action_mask"]), key=lambda a: logits[a])
        expected.append(tuple(int(action) for action in actions.values()))
        observations, _, _, _, infos = env.step(actions)
    assert played == expected
    assert {action for joint in played for action in joint} >= {1, 3, 4}


@pytest.mark.parametrize("n", [2, 4])
def test_the_policies_that_come_with_quorum_clear_boards_that_random_minds_do_not(n: int) -> None:
    words = [f"n={n}", "max_steps=200"]
    assert solved(range(1000, 1005), "agents=policy", *words) >= 3
    assert solved(range(1000, 1005), "agents=random", *words) == 0


def test_draws_follow_the_seed_and_the_probabilities(tmp_path: Path) -> None:
    file = tmp_path / "drawn.npz"
    np.savez(file, weight_0=np.zeros((20, 5)), bias_0=np.log([1e-12, 0.1, 0.1, 0.1, 0.7]))
    one, again, other = (joints(f"agents.path={file}", f"draw={draw}") for draw in (0, 0, 1))
    assert one == again != other
    counts = np.bincount([action for joint in one for action in joint], minlength=5)
    assert counts[0] == 0
    assert counts[1:].all()
    assert counts.argmax() == 4
    assert any(first != second for first, second in one), "each agent draws for itself"


def test_arrays_are_computed_for_minds_that_ask_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    arrays = CubeWorld.arrays
    monkeypatch.setattr(CubeWorld, "arrays", lambda self, agent: asked.append(agent) or arrays(self, agent))
    joints("agents.members.agent_1=heuristic")
    assert set(asked) == {0}
    asked.clear()
    events_of("agents=heuristic", "n=2", "max_steps=4")
    assert asked == []


def test_a_coordinator_has_no_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, bool] = {}
    init = View.__init__

    def noted(self: View, **values: object) -> None:
        init(self, **values)
        seen[self.name] = self.arrays is not None

    monkeypatch.setattr(View, "__init__", noted)
    events_of("agents=negotiator", "topology=centralized", "topology.leader=coordinator", "n=2", "max_steps=2")
    assert seen == {"agent_0": True, "agent_1": True, "coordinator": False}


def test_what_the_file_holds_names_the_cell_and_where_it_is_does_not(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    here, there = saved(tmp_path / "here.npz"), saved(tmp_path / "there" / "copy.npz")
    other = saved(tmp_path / "other.npz", seed=1)

    def name(*words: str) -> str:
        return Cell.compose([*TEAM, *words]).name

    assert name(f"agents.path={here}") == name(f"agents.path={there}")
    assert name(f"agents.path={here}") != name(f"agents.path={other}")
    mixed = [
        name(f"agents.path={one}", f"agents.members.agent_1={{name: policy, path: {two}}}")
        for one, two in ((here, other), (other, here))
    ]
    assert mixed[0] != mixed[1], "which of two policies is whose"


def npz(**arrays: object) -> Callable[[Path], object]:
    return lambda file: np.savez(file, **arrays)


BAD = {
    "text": (lambda file: file.write_text("weights"), "it is not an .npz file"),
    "pickle": (lambda file: file.write_bytes(pickle.dumps([1])), "it is not an .npz file"),
    "a pickled object": (npz(weight_0=np.array([print], dtype=object), bias_0=np.zeros(5)), "Object arrays"),
    "cut": (
        lambda file: (npz(**weights(0, 20, 5))(file), file.write_bytes(file.read_bytes()[:-40])),
        "not an .npz file",
    ),
    "no layers": (npz(), "it contains nothing"),
    "other names": (npz(w=np.zeros((20, 5))), "it contains w; a policy has weight_0"),
    "a layer is missing": (npz(**{k: v for k, v in weights(0, 20, 8, 5).items() if k != "bias_1"}), "a policy has"),
    "whole numbers": (npz(weight_0=np.ones((20, 5), int), bias_0=np.ones(5, int)), "finite floating-point numbers"),
    "not finite": (npz(weight_0=np.full((20, 5), np.nan), bias_0=np.zeros(5)), "finite floating-point numbers"),
    "layers do not fit": (npz(**weights(0, 20, 8) | {"weight_1": np.ones((9, 5)), "bias_1": np.ones(5)}), "no network"),
    "a bias does not fit": (npz(weight_0=np.ones((20, 5)), bias_0=np.ones(4)), "they form no network"),
    "another team": (
        npz(**weights(0, 24, 5)),
        "agent_0 observes 20 numbers and has 5 actions: it was learned for another world",
    ),
    "other actions": (npz(**weights(0, 20, 6)), "chooses among 6 actions"),
    "a bomb": (lambda file: np.savez_compressed(file, weight_0=np.zeros((3_000_000, 5))), "its weights take more than"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_file_that_is_no_policy_is_one_clear_message(case: str, tmp_path: Path) -> None:
    make, message = BAD[case]
    file = tmp_path / "policy.npz"
    make(file)
    with pytest.raises(UserError, match=r"(?s)agents.*path.*policy\.npz.*") as caught:
        build(Cell.compose([*TEAM, f"agents.path={file}"]), no_models)
    assert message in caught.value.message


def test_what_is_no_file_is_refused_at_once(tmp_path: Path) -> None:
    for path in ("/dev/zero", str(tmp_path), "cube_n3"):
        with pytest.raises(UserError, match="path"):
            Cell.compose([*TEAM, f"agents.path={path}"])


def test_a_world_without_arrays_is_named(tmp_path: Path) -> None:
    file = saved(tmp_path / "policy.npz")
    with pytest.raises(UserError, match="the world 'squeeze' provides no arrays"):
        build(Cell.compose([*TEAM, "env=squeeze", f"agents.path={file}"]), no_models)
