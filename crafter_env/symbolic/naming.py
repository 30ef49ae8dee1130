"""What actions name: whether there can be such a thing, and what they may name."""

from __future__ import annotations

from crafter_env.constants import Material
from crafter_env.symbolic.actions import CREATURES_OF, VOCABULARY, Collect, Navigate, Noop, Share, Target
from crafter_env.symbolic.episode_state import EpisodeState
from maeil.actions import SymbolicAction
from maeil.world import Ids


def check_action(episode: EpisodeState, agent: int, action: SymbolicAction) -> list[str]:
    """Return why an agent can by no means carry out an action, in words; what may change on the way is left to try."""
    if not episode.lives(agent) and not isinstance(action, Noop):
        return [f"{action}: a dead agent can do nothing but noop"]
    match action:
        case Navigate(target=Target.agent, id=other) | Share(agent=other):
            if not 0 <= other < episode.agents:
                return [f"{action}: there is no agent {other}; indices go from 0 to {episode.agents - 1}"]
            if other == agent:
                return [f"{action}: this is the agent itself"]
            if isinstance(action, Share) and not episode.profile.sharing:
                return [f"{action}: there is no sharing in the profile {episode.profile.name!r}"]
            if isinstance(action, Navigate) and action.near is not None and episode.cell_with(action.near) is None:
                return _check_cell(episode, agent, action, action.near)
        case Navigate(target=target, id=identity) if target.value in CREATURES_OF:
            pass  # creatures come into view and leave it while a plan runs
        case Navigate(id=int(identity)) | Collect(target=int(identity)) if not _is_creature(action):
            return _check_cell(episode, agent, action, identity)
    return []


def known_ids(episode: EpisodeState, agent: int | None) -> Ids:
    """Return what actions may name in the present state, for an agent, or for anybody: what `check_action` takes.

    A plan may name any cell of the map, since a message may have named it; what is there shows when it is near.
    """
    if agent is not None and not episode.lives(agent):
        return {action.model_fields["action"].default: [] for action in VOCABULARY if action is not Noop}
    others = [other for other in range(episode.agents) if other != agent] if episode.agents > 1 else []
    cells = range(1, episode.state.materials.size + 1)
    creatures = [target.value for target in Target if target.value in CREATURES_OF]
    places = [target.value for target in Target if target is not Target.agent and target.value not in CREATURES_OF]
    return {
        "share": [{"agent": others if episode.profile.sharing else []}],
        "navigate": [
            {"target": [Target.agent.value], "id": others},
            {"target": places, "id": cells},
            {"target": creatures},
        ],
    }


def _check_cell(episode: EpisodeState, agent: int, action: SymbolicAction, identity: int) -> list[str]:
    cell = episode.cell_with(identity)
    if cell is None:
        return [f"{action}: no cell has the id {identity}; ids go from 1 to {episode.state.materials.size}"]
    if episode.known_only and episode.known(agent, cell) is Material.none:
        return [f"{action}: this agent has seen no cell with the id {identity}"]
    return []


def _is_creature(action: SymbolicAction) -> bool:
    return isinstance(action, Collect) and action.resource.value in CREATURES_OF
