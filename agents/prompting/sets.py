"""Sets of prompts: which templates say what, as the group `prompts` of a configuration names them."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from quorum.agents.prompting.templates import Templates


class PromptSet(BaseModel):
    """A set of prompts: values of the group `prompts`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    folder: str | None
    """A folder of templates that come before the shipped ones; null: none."""
    system: str = Field(min_length=1)
    """Template of the system message."""
    rules: str = Field(min_length=1)
    """Template of the rules of the world."""
    turn: str = Field(min_length=1)
    """Template of the message of a turn."""
    roles: str
    """What the names of the templates of teams with roles begin with, of `turn.jinja` and one for each role."""
    form: Literal["words", "schema", "text"]
    """What gives a model the form of its answer where the provider has no way to ask for it: the words of
    these templates, or the JSON schema. `text`: values and answers are no typed JSON, but in the world's own notation,
    which the words tell."""

    def for_turns(self, world: str, world_folder: Path) -> Templates:
        """Read the templates of agents that are asked turn by turn.

        Args:
            world: name of the world.
            world_folder: where the world's own templates are.

        Raises:
            ValueError: a template is not there, or nothing in the set's own folder is used.
        """
        parts = {"rules": self.rules, "system": self.system, "turn": self.turn}
        return Templates(world, world_folder, parts, own=self.folder)

    def for_ending(self, part: str, world: str, world_folder: Path) -> Templates:
        """Read the template of what some turns end in: the same words for every set, but for one's own.

        Args:
            part: `repair`, `needs`, `predict` or `expected`: its name without `.jinja`.
            world: name of the world.
            world_folder: where the world's own templates are.

        Raises:
            ValueError: it cannot be read.
        """
        name = f"{part}.jinja"
        own = self.folder if self.folder is not None and any(Path(self.folder).rglob(name)) else None
        return Templates(world, world_folder, {part: name}, own=own)

    def for_role(self, role: str) -> str:
        """Return the name of the template of a role."""
        return f"{self.roles}{role}.jinja"
