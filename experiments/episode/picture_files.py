"""The pictures of an episode's prompts: a file each, however often it was shown."""

from __future__ import annotations

import os
from pathlib import Path

from quorum.agents.llm.pictures import Picture
from quorum.experiments.common.run_files import PICTURES, picture_file


class PictureFiles:
    """Writes the pictures that are asked about.

    Args:
        folder: of the episode.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._kept: set[str] = set()

    def keep(self, picture: Picture) -> None:
        """Write a picture, whole or not at all, unless it is there.

        Raises:
            OSError: it cannot be written.
        """
        if picture.hash in self._kept:
            return
        (self._folder / PICTURES).mkdir(mode=0o700, exist_ok=True)  # prompts are nobody else's
        target = self._folder / picture_file(picture.hash)
        passing = target.with_suffix(".part")
        with os.fdopen(os.open(passing, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(picture.png)
        passing.replace(target)
        self._kept.add(picture.hash)
