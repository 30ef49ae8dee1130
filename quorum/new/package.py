"""Writes a package from the templates of its kind, completely or not at all."""

from __future__ import annotations

import os
import re
import sys
from importlib.util import find_spec
from keyword import iskeyword
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from jinja2 import Environment, StrictUndefined

from maeil.metrics import METRICS
from quorum.configuration.catalogue import option_names
from quorum.configuration.registry import minds, topologies, worlds
from quorum.storage.files import folder_for, os_errors, write_all
from quorum_base.registry import Registry
from quorum_base.user_errors import UserError, choices_hint

TEMPLATES = Path(__file__).with_name("templates")
"""One folder for each kind, and one with common files. `NAME` in a path stands for the name of the package."""
REGISTRIES: dict[str, Registry[Any]] = {"world": worlds, "mind": minds, "topology": topologies}
COMMANDS = {
    "world": ("quorum run env={name} n=3", "quorum run env={name} n=3 agents=naive topology=debate"),
    "mind": ("quorum run agents={name} n=2 topology=debate", "quorum show prompt agents={name} n=2"),
    "topology": ("quorum run topology={name} agents=negotiator n=4", "quorum run topology={name} agents=naive n=4"),
    "metric": ("quorum list metrics.talk", "quorum run n=2 agents=naive topology=debate"),
}
"""Example commands for each kind of package, in addition to its options."""
_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")


def write_package(kind: str, name: str, out: Path) -> tuple[str, ...]:
    """Write a package of a kind, and return the commands to type in its folder.

    Args:
        kind: a key of `COMMANDS`.
        name: name of the package, its component and its folder.
        out: the folder to write it to, created if necessary.

    Raises:
        UserError: there is no such kind, the name is not valid or is taken, or the package cannot be written.
    """
    if kind not in COMMANDS:
        raise UserError(f"new {kind}: there is no such kind", choices_hint(kind, "Kinds", COMMANDS))
    _check_name(kind, name)
    commands = ("pytest", *(f"{command.format(name=name)} --plugin {name}" for command in COMMANDS[kind]))
    target = out / name
    if os.path.lexists(target):
        raise UserError(f"new {kind} {name}: {target} already exists", "Choose another name, or another folder: --out.")
    hint = "Give another folder: --out."
    refused = os_errors(f"{target}: cannot be written", hint)
    with refused, folder_for(out), TemporaryDirectory(prefix=f".{name}-", dir=out) as hidden:
        whole = Path(hidden, name)
        files = _render(kind, name, commands)
        for file in files:
            (whole / file).parent.mkdir(parents=True, exist_ok=True)
        write_all(whole, files, hint)
        whole.rename(target)
    return commands


def _check_name(kind: str, name: str) -> None:
    """Reject a name that Python, Quorum or a package index would not accept, or that another module has."""
    begin, hint = f"new {kind} {name}:", "Choose another name."
    if iskeyword(name):
        raise UserError(f"{begin} this is a Python keyword", hint)
    if not _NAME.fullmatch(name):
        rule = "a name is lowercase letters and digits, with single underscores between, and begins with a letter"
        raise UserError(f"{begin} {rule}", "Such as doors, or my_doors.")
    if kind in REGISTRIES:
        registry = REGISTRIES[kind]
        taken = name in (*registry.names(), *option_names(registry.group))
    else:
        taken = f"talk.{name}" in METRICS
    if taken:
        raise UserError(f"{begin} a {kind} of this name already exists", hint)
    if name in sys.stdlib_module_names or find_spec(name) is not None:
        raise UserError(f"{begin} Python finds another module of this name", hint)


def _render(kind: str, name: str, commands: tuple[str, ...]) -> dict[str, bytes]:
    """Return the files of a package by path in its folder."""
    environment = Environment(undefined=StrictUndefined, trim_blocks=True, keep_trailing_newline=True)
    values = {
        "kind": kind,
        "plural": REGISTRIES[kind].plural if kind in REGISTRIES else "metrics",
        "name": name,
        "Name": "".join(word.capitalize() for word in name.split("_")),
        "commands": commands,
    }
    found = {}
    for folder in (TEMPLATES / "common", TEMPLATES / kind):
        for file in sorted(folder.rglob("*.jinja")):
            path = file.relative_to(folder).as_posix().removesuffix(".jinja").replace("NAME", name)
            found[path] = environment.from_string(file.read_text(encoding="utf-8")).render(values).encode()
    return found
