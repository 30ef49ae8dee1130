"""The words of grid transportation: colours, difficulties, rules, and the codes of what goes wrong."""

from __future__ import annotations

from enum import StrEnum


class Colour(StrEnum):
    """A colour of boxes and targets."""

    blue = "blue"
    red = "red"
    green = "green"
    purple = "purple"
    orange = "orange"


class Difficulty(StrEnum):
    """Which of the two tasks."""

    easy = "easy"  # boxes in cells, any number in each
    hard = "hard"  # boxes on corners, one on each


class EntryRule(StrEnum):
    """Whether a corner may be entered in the step in which its box leaves (Hard)."""

    final_state = "final_state"  # it may: only where boxes are after the step counts
    start_empty = "start_empty"  # it may not: a corner must be empty before the step


class FailureCode(StrEnum):
    """Why an action is refused or fails; the same words in replies, outcomes and reasons of failed plans."""

    not_json = "not_json"  # the text holds no JSON that can be read
    not_an_object = "not_an_object"  # it is JSON, but no object of agents and actions
    duplicate_agent = "duplicate_agent"  # an agent has two entries
    unknown_agent = "unknown_agent"  # a key names no agent of this grid
    not_an_action = "not_an_action"  # a value is no `move(box, destination)`
    unknown_colour = "unknown_colour"  # a box or target of a colour that there is not
    other_colour = "other_colour"  # a box onto a target of another colour
    no_such_place = "no_such_place"  # a destination that this grid does not have
    no_such_box = "no_such_box"  # no box of that colour is left
    box_not_here = "box_not_here"  # the agent has no box of that colour in reach
    out_of_reach = "out_of_reach"  # the agent cannot bring a box to that place
    already_there = "already_there"  # the box is at that place
    no_target = "no_target"  # the agent's cell has no target of that colour
    corner_taken = "corner_taken"  # under `start_empty`: a box is on that corner
    conflict = "conflict"  # two agents act on one box: both fail
    collision = "collision"  # two boxes on one corner: the episode fails
