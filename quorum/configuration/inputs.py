"""Digests of inputs besides the configuration that affect a cell: templates, files that values name, plugins.

Cells with equal configurations but different prompts or plugins are different cells: `inputs_of` is part of their
names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from maeil.component import Component
from quorum.agents.prompting.templates import PromptSet, template_of
from quorum.agents.skills import prompts_of, skills
from quorum.configuration.extensions import templates_of
from quorum.configuration.package_files import LIBRARY, describe_package
from quorum.configuration.plugins import of_unknown_effect
from quorum.configuration.registry import extensions, minds, providers, topologies, worlds
from quorum.configuration.schema import Configuration
from quorum.installation.extension_errors import belongs_to_extensions
from quorum.storage.memory_file import read_memory
from quorum.storage.run_files import DamagedFile
from quorum_base.components import PACKAGES
from quorum_base.user_errors import UserError

Inputs = Mapping[str, str]
"""Digests by name: `prompts/cube/rules.jinja`, `llm.run/calls.jsonl`, `package corridor`; and the versions of
libraries that plugins import: `library scipy`.
"""

MEMORY_INPUT = "memory.store/memory.json"
"""Name of the memory that a single run starts with, if it has one."""


def inputs_of(configuration: Configuration, world: str | None = None) -> Inputs:
    """Compute the digests of a cell's inputs besides its configuration.

    Args:
        configuration: configuration of the cell.
        world: name that the built world gives itself, for its templates; None: the name under which it is registered.

    Raises:
        UserError: a template or template folder that the configuration names is missing, or the memory that it names is
            damaged.
    """
    world = world if world is not None else configuration.env.name
    found: dict[str, str] = {}
    packages = set(of_unknown_effect())
    for group, component, values in _components(configuration):
        try:
            own = component.inputs(values, world)
            keys = type(values).model_fields
            found |= {f"{group}.{name}" if name in keys else name: digest for name, digest in own.items()}
            if group.startswith(f"{extensions.group}."):
                found |= _templates(component, configuration, world)
        except ValueError as error:
            raise UserError(f"{group}: {error}") from error
        packages |= _packages(component) | _named(group, component, values)
    if configuration.memory.store is not None:
        found |= _stored(Path(configuration.memory.store))
    if world in skills.names():
        packages.add(_top(type(skills.get(world)).__module__))
    for name in packages - PACKAGES:
        found |= describe_package(name)
    return dict(sorted(found.items()))


def _stored(folder: Path) -> Inputs:
    """Compute the digest of the memory that a single run starts with; empty if there is none yet.

    Raises:
        UserError: it is damaged.
    """
    try:
        memory = read_memory(folder)
    except DamagedFile as damage:
        raise UserError(f"memory.store: {damage.message}", "Give another folder: memory.store=FOLDER.") from damage
    return {MEMORY_INPUT: memory.digest} if memory is not None else {}


def shared_inputs() -> Callable[[Configuration], Inputs]:
    """Return a function that digests the inputs of many cells, once per input, as if at a single moment."""
    found: dict[tuple[str, ...], Inputs] = {}

    def of(c: Configuration) -> Inputs:
        key = tuple(f"{group} {values.model_dump_json()}" for group, _, values in _components(c))
        if key not in found:
            found[key] = inputs_of(c)
        return found[key]

    return of


def libraries_in(inputs: Inputs) -> Mapping[str, str]:
    """Return the versions of the distributions that plugins import, by name."""
    return {key.removeprefix(LIBRARY): version for key, version in inputs.items() if key.startswith(LIBRARY)}


def refuse_changed(name: str, before: Inputs, now: Inputs) -> None:
    """Check that a cell runs with the inputs that it was planned with.

    Args:
        name: name of the cell.
        before: its inputs when it was named.
        now: its inputs when it runs.

    Raises:
        InputsChanged: they differ.
    """
    changed = sorted(key for key in {**before, **now} if before.get(key) != now.get(key))
    if changed:
        raise InputsChanged(
            f"{name}: changed since this command began: {', '.join(changed)}",
            "Run the command again: it runs the changed cells under new names.",
        )


class InputsChanged(UserError):
    """A template, plugin or file changed between the naming of a cell and its run."""


def _components(c: Configuration) -> Iterator[tuple[str, Component[Any, Any, Any], Any]]:
    yield "env", worlds.get(c.env.name), c.env
    for key, mind in c.team.items():
        yield key, minds.get(mind.name), mind
    yield "topology", topologies.get(c.topology.name), c.topology
    for name, own in c.extensions.items():
        yield f"{extensions.group}.{name}", extensions.get(name), own
    if c.uses_models:
        yield "llm", providers.get(c.llm.name), c.llm
        for key, own in c.special_models.items():
            yield key, providers.get(own.name), own


@runtime_checkable
class _Prompted(Protocol):
    """The values of a mind that has prompts."""

    prompts: PromptSet


def _templates(component: Component[Any, Any, Any], c: Configuration, world: str) -> Inputs:
    """Digest the templates of an extension, in the prompt set of each mind."""
    prompts = [mind.prompts for mind in c.team.values() if isinstance(mind, _Prompted)]
    found: dict[str, str] = {}
    for file, own in product(templates_of(component), prompts):
        found |= template_of(file, world, prompts_of(world), own.folder).sources
    return found


def _packages(component: Component[Any, Any, Any]) -> set[str]:
    """Return the top-level packages that a component comes from."""
    build = getattr(component.build, "func", component.build)  # unwrap a `functools.partial`
    return {_top(found.__module__) for found in (component.config, build)}


def _named(group: str, component: Component[Any, Any, Any], values: Any) -> set[str]:
    """Return the top-level packages of the modules that values name; they extend Quorum, as plugins do."""
    try:
        modules = component.modules(values)
    except ValueError as error:
        raise UserError(f"{group}.{error}") from error
    for module in modules:
        belongs_to_extensions(module)
    return set(map(_top, modules))


def _top(module: str) -> str:
    return module.partition(".")[0]
