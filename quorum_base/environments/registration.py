"""Ids in Gymnasium's registry.

Gymnasium no longer has entry points for environments: a package registers its ids when it is imported. But importing a
package of this project should not import Gymnasium, so the ids are registered once both are imported, in either order.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType


def register_with_gymnasium(name: str, entry_point: str, vector_entry_point: str | None = None) -> None:
    """Register an id now, or as soon as Gymnasium is imported.

    Args:
        name: The id.
        entry_point: Module and name of the environment, with a colon between them.
        vector_entry_point: The same for its batch, if it has one.
    """

    def register_it() -> None:
        from gymnasium.envs.registration import register, registry  # noqa: PLC0415 (see above)

        if name not in registry:
            register(name, entry_point=entry_point, vector_entry_point=vector_entry_point)

    if "gymnasium" in sys.modules:
        register_it()
    else:
        sys.meta_path.insert(0, _WithGymnasium(register_it))


class _WithGymnasium(MetaPathFinder):
    """Finds Gymnasium as usual, and calls a function after it is loaded."""

    def __init__(self, loaded: Callable[[], None]) -> None:
        self._loaded = loaded
        self._looking = False

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
            self._loaded()

        spec.loader.exec_module = load_and_register  # type: ignore[method-assign]
        return spec
