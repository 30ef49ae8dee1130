"""What is another in a branch than in its run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from quorum.experiments.episode.dictated import Words


@dataclass(frozen=True, slots=True)
class Change:
    """What is another from an instant on. An empty one changes nothing: the branch is its run.

    Attributes:
        edits: `KEY=VALUE` of the configuration.
        words: what participants are told to say or to plan, once.
        drops: ids of messages of the run that their senders do not send.
        config_dir: folder with more options of the groups that edits name.
        world: what of the world is another, in its own words; None: nothing.
    """

    edits: Sequence[str] = ()
    words: Sequence[Words] = ()
    drops: Sequence[int] = ()
    config_dir: Path | None = None
    world: Mapping[str, Any] | None = None
