"""What healers say in a prompt: how it is told, and how it is read back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from maeil.notices import HealerNote, Pattern
from quorum.agents.prompting.names import fold_names, unfold_names


def write_notes(notes: Sequence[HealerNote], names: Sequence[str]) -> list[dict[str, object]]:
    """Return notes as they are told, JSON-ready, without what there is nothing to say about.

    Args:
        notes: in their order.
        names: of all participants by index.
    """
    return [dict(_told(note, names)) for note in notes]


def _told(note: HealerNote, names: Sequence[str]) -> Iterator[tuple[str, object]]:
    yield "finding", note.healer.value
    yield "says", note.text
    if note.subject:
        yield "about", note.subject
    if note.handlers:
        yield "handlers", fold_names([names[agent] for agent in note.handlers])
    if note.messages:
        yield "messages", [[names[sender], text] for sender, text in note.messages]


def read_notes(data: Sequence[Mapping[str, Any]], index: Mapping[str, int]) -> tuple[HealerNote, ...]:
    """Read what `write_notes` writes, but for the numbers, which no prompt shows.

    Args:
        data: notes as they are told.
        index: of each participant, by its name.

    Raises:
        KeyError, ValueError: it is not what is written.
    """
    return tuple(
        HealerNote(
            number=number,
            healer=Pattern(told["finding"]),
            text=told["says"],
            subject=told.get("about", ""),
            handlers=tuple(index[name] for name in unfold_names(told.get("handlers", ()))),
            messages=tuple((index[name], text) for name, text in told.get("messages", ())),
        )
        for number, told in enumerate(data)
    )
