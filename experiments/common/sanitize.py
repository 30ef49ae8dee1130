"""What others wrote (models, minds, stored configurations), made fit for one line of a terminal or a picture."""

from __future__ import annotations


def sanitize(text: str, longest: int | None = None) -> str:
    """Return a text without anything that could act: control and direction marks become spaces.

    Args:
        text: of any length.
        longest: characters at most; a longer text is cut, and ends in an ellipsis.
    """
    if longest is None or len(text) <= longest:
        return "".join(character if character.isprintable() else " " for character in text)
    return sanitize(text[: longest - 1]) + "…"
