"""What satellites do for verbs of the core. They declare it in the entry-point group `quorum.hooks`.

| hook | what it does |
|---|---|
| `check_folder(place, plugins)` | `quorum check FOLDER`: verifies a folder of its kind; None for other folders |
| `check_drift(run, budget, as_json=)` | `quorum check --drift` |
| `episode_page(folders, output)` | `quorum report --episodes`: writes the page of an episode, and returns its file |
"""

from __future__ import annotations

from types import FunctionType
from typing import Any

from maeil.registry import Registry
from maeil.user_errors import UserError

HOOKS: Registry[Any] = Registry("hook", "hooks", "", "quorum.hooks", {}, lambda: FunctionType)
"""All hooks, by name."""


def hook(name: str, option: str) -> Any:
    """Return what a satellite does for an option of a verb.

    Raises:
        UserError: no installed package does this.
    """
    if name not in HOOKS.names():
        raise UserError(f"{option}: no installed package does this", f"It would declare the hook {name!r}.")
    return HOOKS.get(name)
