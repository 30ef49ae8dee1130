"""Why a symbolic action fails: an identifier, with its numbers behind it (`too_few_agents 1 of 3`)."""

from __future__ import annotations

from enum import StrEnum


class Reason(StrEnum):
    """What stood in the way; the comment gives what follows it."""

    another_is_nearer = "another_is_nearer"  # id of the cell that `do` would act on
    asleep = "asleep"
    dead = "dead"
    gone = "gone"  # what was there; what is there now
    missing_input = "missing_input"  # item, units held `of` units needed
    missing_tool = "missing_tool"  # item
    no_luck = "no_luck"  # tries
    no_path = "no_path"  # target, id
    no_place = "no_place"  # object
    no_station = "no_station"  # table or furnace
    no_such_agent = "no_such_agent"  # index
    not_as_told = "not_as_told"  # what a plan named (`iron_2081`), `found`, what is there (`nobody` for a teammate)
    not_held = "not_held"  # item
    not_in_profile = "not_in_profile"  # what the profile does without
    not_reached = "not_reached"  # steps taken
    not_ripe = "not_ripe"
    not_shareable = "not_shareable"  # item
    not_tired = "not_tired"
    nothing_in_reach = "nothing_in_reach"  # resource
    out_of_reach = "out_of_reach"  # cells to the target `of` cells allowed
    out_of_sight = "out_of_sight"  # target, id
    recipient_dead = "recipient_dead"  # index
    recipient_far = "recipient_far"  # cells between `of` cells allowed
    recipient_full = "recipient_full"  # index
    team_too_small = "team_too_small"  # agents alive `of` agents needed
    too_few_agents = "too_few_agents"  # agents that could `of` agents needed
    unknown_id = "unknown_id"  # target, id
