"""The form in which a file is uploaded."""

from __future__ import annotations

import re

from quorum.more_providers.serving.formats import BadBody


def parts(kind: str, content: bytes) -> dict[str, bytes]:
    """Return the parts of a form by name.

    Args:
        kind: the content type, with the boundary of the parts.
        content: the body.

    Raises:
        BadBody: it is no form.
    """
    found = re.search(r'multipart/form-data;.*boundary="?([^";]+)"?', kind)
    if found is None:
        raise BadBody("content-type: multipart/form-data is needed")
    named = {}
    for part in content.split(b"--" + found[1].encode())[1:-1]:
        head, separator, body = part.partition(b"\r\n\r\n")
        name = re.search(rb'name="([^"]+)"', head)
        if not separator or name is None:
            raise BadBody("a part of the form has no name")
        named[name[1].decode("utf-8", "replace")] = body.removesuffix(b"\r\n")
    return named
