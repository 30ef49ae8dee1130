"""The absolute paths in a file, which name places of the machine that made it."""

import re

PLACE = re.compile(r"(?<![\w:/.+<=>*)-])/[A-Za-z][\w.-]*/[\w.-]")
"""An absolute path in a text; not a part of an address, a relative path, a tag or base64."""
