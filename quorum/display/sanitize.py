"""Makes text of others (models, minds, stored configurations) safe for a terminal, a table or a picture.

Characters that control a terminal, change the text direction or are invisible are written as in the viewer: escape as
␛, the end of a line as ␊, others by their number as ⟨U+202E⟩. Spaces of all widths become a plain one. Passwords in
addresses are removed.
"""

from __future__ import annotations

import unicodedata

from quorum_base.user_errors import mask_passwords

_LINE_ENDS = ("\N{LINE SEPARATOR}", "\N{PARAGRAPH SEPARATOR}")


def sanitize(text: str, longest: int | None = None) -> str:
    """Return a text in one line without control characters.

    Args:
        text: text of any length.
        longest: maximum characters; a longer text is cut and ends in an ellipsis.
    """
    if longest is None:
        return _visible(mask_passwords(text))
    shown = sanitize(text[: longest + 1])
    return shown if len(shown) <= longest else f"{shown[: longest - 1]}…"


def sanitize_lines(text: str) -> str:
    """Return a multi-line text without control characters except line feeds and tabs."""
    lines = mask_passwords(text).split("\n")
    return "\n".join("\t".join(map(_visible, line.split("\t"))) for line in lines)


def escape_json(text: str) -> str:
    r"""Return equivalent JSON without passwords, and with all control characters written as `\u001b`."""
    text = mask_passwords(text)
    return text if text.isprintable() else "".join(sign if sign == "\n" else _escaped(sign) for sign in text)


def _visible(text: str) -> str:
    return text if text.isprintable() else "".join(map(_shown, text))


def _shown(sign: str) -> str:
    if sign.isprintable():
        return sign
    code = ord(sign)
    if code < 0x20:
        return chr(0x2400 + code)  # Unicode's block of control pictures
    if code == 0x7F:
        return "\N{SYMBOL FOR DELETE}"
    if sign in _LINE_ENDS:
        return "\N{SYMBOL FOR NEWLINE}"
    return " " if unicodedata.category(sign) == "Zs" else f"⟨U+{code:04X}⟩"


def _escaped(sign: str) -> str:
    if sign.isprintable():
        return sign
    pairs = sign.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{pairs[place : place + 2].hex()}" for place in range(0, len(pairs), 2))
