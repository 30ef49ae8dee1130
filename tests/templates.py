"""Templates of configurations, which Hydra composes once in a session of the tests instead of once in each process."""

from __future__ import annotations

import atexit
import hashlib
import os
import pickle
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from quorum.configuration import compose
from quorum.configuration.templates import Template

_FOLDER = "QUORUM_TESTS_TEMPLATES"
"""The variable that names the folder to the workers, and to the servers from which their commands are forked."""


class SharedTemplates(dict[tuple[object, ...], Template]):
    """The templates of this process, and those that other processes have left in a folder.

    To compose one takes Hydra 0.1 s, to read one takes a millisecond. Their keys contain the contents of all options.

    Args:
        folder: where the processes leave them.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder

    def __contains__(self, key: object) -> bool:
        if not super().__contains__(key):
            try:
                found = pickle.loads(self._file(key).read_bytes())
            except OSError:
                return False
            super().__setitem__(key, found)  # type: ignore[index]
        return True

    def __setitem__(self, key: tuple[object, ...], template: Template) -> None:
        super().__setitem__(key, template)
        with suppress(OSError):  # a test may have filled the disk
            own = self._file(key)
            part = own.with_suffix(f".{os.getpid()}-{id(template)}")
            part.write_bytes(pickle.dumps(template))
            os.replace(part, own)

    def _file(self, key: Any) -> Path:
        return self._folder / hashlib.sha256(repr(key).encode(errors="surrogateescape")).hexdigest()


def share_templates() -> None:
    """Have this process share its templates with the others of this session."""
    if _FOLDER not in os.environ:
        os.environ[_FOLDER] = tempfile.mkdtemp(prefix="quorum-templates-")
        atexit.register(_remove, os.environ[_FOLDER], os.getpid())
    compose._TEMPLATES = SharedTemplates(Path(os.environ[_FOLDER]))


def _remove(folder: str, owner: int) -> None:
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)
