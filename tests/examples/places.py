"""What tells of the machine that made a file."""

import re

PLACE = re.compile(r"(?<![\w:/.+<=>*)-])/[A-Za-z][\w.-]*/[\w.-]")
"""An absolute path in a text; not a part of an address, a relative path, a tag or base64."""
