"""The minds of single participants: `agents.members` by participant, `agents.leader` for the topology's leader.

The group `agents` is the mind of all others. This module checks values; who leads, and which minds can play together,
is known only when the team is built (`quorum.episode.team`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from maeil.component import ComponentConfig
from maeil.mind import COORDINATOR
from quorum.configuration.checked_values import component_values
from quorum.configuration.registry import minds
from quorum.configuration.team_label import LEADER, natural
from quorum_base.user_errors import UserError

MEMBERS = "members"


def without_members(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a configuration whose group `agents` has only the values of the common mind."""
    agents = raw.get(minds.group)
    if not isinstance(agents, Mapping):
        return raw
    return {**raw, minds.group: {key: value for key, value in agents.items() if key not in (MEMBERS, LEADER)}}


def members_of(
    raw: Mapping[str, Any], usual: ComponentConfig, *, recorded: bool
) -> tuple[Mapping[str, ComponentConfig], ComponentConfig | None]:
    """Check the values of the minds of single participants.

    Args:
        raw: the whole configuration.
        usual: the mind of all others. A member with the same values is dropped, so that equal teams are one cell
            however they are written. A member whose name only the world can check is kept, so that building the team
            rejects a wrong name.
        recorded: whether it was read from a run folder.

    Returns:
        The members' minds by name, and the leader's mind, if any.

    Raises:
        UserError: a value is wrong.
    """
    agents = raw[minds.group]
    said = agents.get(MEMBERS, {})
    if not isinstance(said, Mapping):
        raise UserError(
            f"{minds.group}.{MEMBERS}: {said!r} is not a map of minds by agent name",
            f"For example: {minds.group}.{MEMBERS}.agent_0=heuristic",
        )
    place = f"{minds.group}.{MEMBERS}"
    found = {name: component_values(minds, said, place=f"{place}.{name}", recorded=recorded) for name in natural(said)}
    leader = None
    if LEADER in agents:
        leader = component_values(minds, agents, place=f"{minds.group}.{LEADER}", recorded=recorded)
    if leader is None or all(values == usual for values in (*found.values(), leader)):
        known = {COORDINATOR, *(f"agent_{index}" for index in range(raw["n"]))}
        return {name: values for name, values in found.items() if values != usual or name not in known}, None
    return found, leader
