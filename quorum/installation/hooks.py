"""Hooks that satellites provide for the core's verbs and for each other.

A satellite lists its hooks in its `components.json`, an installed package in the entry-point group `quorum.hooks`.

| hook | what it does |
|---|---|
| `agent_credits(run)` | the difference reward of each agent of a run, by name |
| `check_folder(place, plugins)` | `quorum check FOLDER`: verifies a folder of its kind; None for other folders |
| `check_drift(run, budget, as_json=)` | `quorum check --drift` |
| `episode_page(folders, output)` | `quorum report --episodes`: writes the page of an episode, and returns its file |
| `failures_of_trace(trace)` | the failures that the viewer shows, as JSON-ready data |
"""

from __future__ import annotations

from types import FunctionType
from typing import Any

from quorum_base.registry import Registry
from quorum_base.user_errors import UserError

HOOKS: Registry[Any] = Registry("hook", "hooks", "", "quorum.hooks", lambda: FunctionType)
"""All hooks, by name."""


def hook(name: str, needed_by: str = "") -> Any:
    """Return the function that a satellite or an installed package provides for a hook; None if there is none.

    Args:
        name: name of the hook.
        needed_by: the option that requires it; empty: it is optional.

    Raises:
        UserError: an option requires it, and no package provides it.
    """
    if name in HOOKS.names():
        return HOOKS.get(name)
    if needed_by:
        raise UserError(
            f"{needed_by}: no installed package provides this",
            f"Install a package that declares the hook {name!r}.",
        )
    return None
