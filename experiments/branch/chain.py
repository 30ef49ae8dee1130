"""The run that a run branches off, and what was changed then: a branch of a branch is played by all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from maeil.trace import Instant
from maeil.user_errors import UserError
from quorum.experiments.branch.change import Change
from quorum.experiments.branch.world import read_changes
from quorum.experiments.common.sanitize import sanitize
from quorum.experiments.configuration.cell import Branch
from quorum.experiments.episode.dictated import Words
from quorum.experiments.results.run_folder import is_run
from quorum.experiments.results.run_meta import RunMeta

_LONGEST = 200
"""Characters that are shown of what a folder says."""


def instant_of(branch: Branch) -> Instant:
    """Return from which instant on a branch was live."""
    return Instant(branch.t, branch.t_hat)


def change_of(branch: Branch, run: Path) -> Change:
    """Return what was another in a branch, as its folder tells it.

    Args:
        branch: what it tells.
        run: its folder, for messages.

    Raises:
        UserError: it tells something that this version does not know.
    """
    words: list[Words] = []
    drops: list[int] = []
    world = None
    for told in branch.told:
        option, _, what = told.partition(" ")
        who, _, said = what.partition(":")
        if option == "--say":
            words.append(Words(who, text=said))
        elif option == "--plan":
            words.append(Words(who, actions=said))
        elif option == "--drop" and what.isdecimal():
            drops.append(int(what))
        elif option == "--world":
            world = read_changes(what)
        else:
            raise UserError(
                f"{run}: it is a branch, and this version does not know what was changed in it: "
                f"{sanitize(told, _LONGEST)}",
                "Update quorum-harness.",
            )
    return Change(branch.edits, words, drops, world=world)


def places_of(run: Path, meta: RunMeta) -> Iterator[Path]:
    """Return where the run may be that a run branches off: beside it, or where its `meta.json` says."""
    assert meta.branch is not None
    above, name = run.resolve().parent, meta.branch.run
    if Path(name).name == name:
        yield above / name
    if meta.parent and not Path(meta.parent).is_absolute():
        yield above / meta.parent


def missing(run: Path, name: str, others: Sequence[Path]) -> UserError:
    """Return the mistake that it is when the run cannot be found that a run branches off."""
    shown = sanitize(name, _LONGEST)
    if others:
        return UserError(
            f"{run}: it is a branch of {shown}, and {others[0]} is not that run: it begins otherwise",
            "Put the folder of that run beside it.",
        )
    return UserError(
        f"{run}: it is a branch of {shown}, which is not there: what was before its instant cannot be brought back",
        "Put the folder of that run beside it, under this name.",
    )


def runs_at(places: Iterator[Path]) -> Iterator[Path]:
    """Return those places that hold a run, each once."""
    yield from dict.fromkeys(place for place in places if is_run(place))
