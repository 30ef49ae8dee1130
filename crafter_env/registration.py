"""The id of this world in Gymnasium's registry.

Gymnasium has no entry points for environments any more: a package registers its ids when it is imported. Names that
need no arrays should not load Gymnasium, so that the id is registered as soon as both are imported, in either order.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType

ID = "quorum/Crafter-v0"


def register_with_gymnasium() -> None:
    """Register the id now, or as soon as Gymnasium is imported."""
    if "gymnasium" in sys.modules:
        _register()
    else:
        sys.meta_path.insert(0, _WithGymnasium())


def _register() -> None:
    from gymnasium.envs.registration import register, registry  # noqa: PLC0415 (see above)

    if ID not in registry:
        register(
            ID,
            entry_point="crafter_env.team:CrafterTeamEnv",
            vector_entry_point="crafter_env.team:CrafterTeamVecEnv",
        )


class _WithGymnasium(MetaPathFinder):
    """Lets Gymnasium be found as usual, and registers the id once it has been loaded."""

    _looking = False

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,  # noqa: ARG002 (importlib's interface)
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> ModuleSpec | None:
        if fullname != "gymnasium" or self._looking:
            return None
        self._looking = True
        try:
            spec = find_spec(fullname)
        finally:
            self._looking = False
        if spec is None or spec.loader is None:
            return spec
        load = spec.loader.exec_module

        def load_and_register(module: ModuleType) -> None:
            load(module)
            sys.meta_path.remove(self)
            _register()

        spec.loader.exec_module = load_and_register  # type: ignore[method-assign]
        return spec
