"""Counts the stays of two values on their way through the product.

    python -m benchmarks.stays           # the figures of both walks
    python -m benchmarks.stays --list    # and each stay, in the order in which the value arrives

A stay is a function of the product that holds the value while it runs: in an argument, in a local variable or in its
result. It holds the value alone, in a text that contains it, in a list, tuple, set or map, or in an attribute of an
object, but no deeper: a function that passes on a whole configuration is not a stay of one of its values. A function
that runs often is one stay. Comprehensions, generator expressions and lambdas belong to the function that contains
them. A return is a stay whose result holds the value. Each walk is one episode in this process, traced by
`sys.setprofile`, with a value that occurs nowhere else:

- setting: `topology.rounds`, from the command line to the first turn of the topology that reads it;
- message: the text of a message, from the answer of one mind's model to the prompt of the other mind.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from types import FrameType
from typing import Any

import orjson

from benchmarks.size import ROOT
from quorum.agents.llm.protocol import Reply, Request
from quorum.agents.simulated.model import SimulatedModel
from quorum.verbs.app import app

ROUNDS = 1733
"""A number of rounds that equals no other value of an episode."""
CONTENT = "I take the marked block"
TEAM = ("n=2", "agents=naive", "topology=debate", "max_steps=1", "budget.calls=4")
"""An episode of two minds that talk, which ends after a few answers."""
_MOST = 64
"""Maximum number of container members to inspect."""
_PACKAGES = ("quorum", "quorum_base", "maeil", "cube_env")
Place = tuple[str, str]
"""A stay: file and function."""


@dataclass
class Walk:
    """The profiler's record of a value.

    Attributes:
        is_value: whether an object is the value, or a text that contains it.
        arrived: whether a function is the end of the way.
        stays: in the order of arrival, each with whether it returns the value.
        under_way: whether the way has begun and not ended.
    """

    is_value: Callable[[Any], bool]
    arrived: Callable[[Place], bool]
    stays: dict[Place, bool] = field(default_factory=dict)
    under_way: bool = True

    def __call__(self, frame: FrameType, event: str, result: Any) -> None:
        """Inspect a frame on entry and exit; `sys.setprofile` calls this."""
        if not self.under_way or event not in ("call", "return"):
            return
        place = _place(frame)
        if place is None:
            return
        returns = event == "return" and self._holds(result)
        if returns or any(map(self._holds, frame.f_locals.values())):
            self.stays[place] = self.stays.get(place, False) or returns
            self.under_way = not self.arrived(place)

    def _holds(self, value: Any) -> bool:
        return self.is_value(value) or any(map(self.is_value, islice(_members(value), _MOST)))

    def figures(self) -> str:
        """Return the number of stays, of their files and of returns."""
        files = {file for file, _ in self.stays}
        return f"{len(self.stays)} stays in {len(files)} files, {sum(self.stays.values())} returns"


def _place(frame: FrameType) -> Place | None:
    """Return the file and the function of a frame of the product; None for other frames."""
    file = frame.f_code.co_filename
    if not file.startswith(f"{ROOT}{os.sep}"):
        return None
    path = os.path.relpath(file, ROOT)
    if path.partition(os.sep)[0] not in _PACKAGES:
        return None
    names = [name for name in frame.f_code.co_qualname.split(".") if not name.startswith("<")]
    return (path, ".".join(names)) if names else None


def _members(value: Any) -> Iterator[Any]:
    """Yield the members of a container or an object, without calling any of its code."""
    if isinstance(value, dict):
        yield from dict.values(value)  # a subclass may compute
    elif isinstance(value, list | tuple | set | frozenset):
        yield from value
    elif not isinstance(value, type):
        yield from getattr(value, "__dict__", {}).values()
        for kind in type(value).__mro__:
            slots = kind.__dict__.get("__slots__", ())
            for name in (slots,) if isinstance(slots, str) else slots:
                member = kind.__dict__.get(name)
                if hasattr(member, "__get__") and type(member).__name__ == "member_descriptor":
                    try:
                        yield member.__get__(value)
                    except AttributeError:  # not set
                        continue


@contextmanager
def _saying(content: str, walk: Walk) -> Iterator[None]:
    """Replace the first message that a model writes by this content, and start the walk there."""
    complete = SimulatedModel.complete

    async def marked(model: SimulatedModel, request: Request) -> Reply:
        if walk.stays:
            return await complete(model, request)
        walk.under_way = False
        reply = await complete(model, request)
        answer = orjson.loads(reply.text)
        for message in answer.get("messages") or ():
            message["content"] = content
        walk.under_way = True
        return replace(reply, text=orjson.dumps(answer).decode())

    SimulatedModel.complete = marked  # type: ignore[method-assign]
    try:
        yield
    finally:
        SimulatedModel.complete = complete  # type: ignore[method-assign]


def _play(walk: Walk, *words: str) -> None:
    """Run an episode of the command line, with the profiler on."""
    with tempfile.TemporaryDirectory() as folder:
        sys.setprofile(walk)
        try:
            app(["run", *TEAM, *words, "--out", folder, "--quiet"], standalone_mode=False)
        finally:
            sys.setprofile(None)


def setting() -> Walk:
    """Follow a setting from the command line to the topology."""
    text = str(ROUNDS)

    def is_value(value: Any) -> bool:
        return (type(value) is int and value == ROUNDS) or (isinstance(value, str) and text in value)

    walk = Walk(is_value, lambda place: "topologies" in place[0] and place[1].endswith(".turns"))
    _play(walk, f"topology.rounds={ROUNDS}")
    return walk


def message() -> Walk:
    """Follow the text of a message from one mind's model to the prompt of the other."""
    mark, data = CONTENT, CONTENT.encode()

    def is_value(value: Any) -> bool:
        return (isinstance(value, str) and mark in value) or (isinstance(value, bytes) and data in value)

    walk = Walk(is_value, lambda place: place[1].startswith("SimulatedModel."))
    with _saying(CONTENT, walk):
        _play(walk)
    return walk


WALKS: Mapping[str, Callable[[], Walk]] = {"setting": setting, "message": message}


def main() -> None:
    """Print the figures of the walks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="print each stay")
    given = parser.parse_args()
    for name, play in WALKS.items():
        walk = play()
        print(f"{name}: {walk.figures()}" + ("" if not walk.under_way else "; it did not arrive"))
        for (file, function), returns in walk.stays.items() if given.list else ():
            print(f"  {file}: {function}{' (returns it)' if returns else ''}")


if __name__ == "__main__":
    main()
