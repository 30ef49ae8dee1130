"""Questions of studies: files of `questions/` that name the arms of a study and its effects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from quorum.storage.plain_yaml import parse_yaml
from quorum_base.user_errors import UserError, choices_hint

QUESTIONS = Path(__file__).with_name("questions")
TREATMENT = "treatment"
"""The arm that the user gives."""
AGAIN = "again"
"""The arm that is the treatment itself, in other draws."""
BEST_OF = "best_of"
"""The arm made from the draws of `solo`: the best of several tries on each board."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class ArmFile(_Part):
    """How an arm differs from the treatment."""

    says: str
    """Its description."""
    words: Sequence[str] = ()
    """`KEY=VALUE` that override the treatment's. `agents=reference` is the world's reference policy; `llm=random` draws
    the plans of a team that makes no model calls.
    """
    control: str = ""
    """The option of `extension` that replaces what participants read; empty: none."""
    alone: bool = False
    """Whether one member acts while the others idle: an arm for each kind of mind in the team."""
    several: bool = False
    """Whether each board is played at least four times; else as often as the treatment's."""


class EffectFile(_Part):
    """An effect: the difference of two arms over the same boards."""

    name: str
    """Name of the effect."""
    plus: str
    """The arm with the cause of the effect."""
    minus: str
    """The arm without it."""
    says: str
    """The cause of the effect, in words."""


class Question(_Part):
    """A question with its arms, its effects, and what else its page shows."""

    asks: str
    """The question."""
    talks: bool
    """Whether the treatment must be a team that talks."""
    arms: Mapping[str, ArmFile]
    """The arms next to the treatment, by name."""
    effects: Sequence[EffectFile]
    """The effects; the first one answers the question."""
    single: str = ""
    """The arm of a single mind, the reference for measures of coordination; empty: show none."""
    equal: Literal["", "tokens"] = ""
    """Resource of which arms are also compared at equal amounts; empty: none."""


def question_names() -> list[str]:
    """Return the names of all questions."""
    return sorted(file.stem for file in QUESTIONS.glob("*.yaml"))


def load_question(name: str) -> Question:
    """Read a question.

    Raises:
        UserError: there is no question with this name.
    """
    names = question_names()
    if name not in names:
        raise UserError(f"study {name}: there is no such question", choices_hint(name, "Questions", names))
    return Question.model_validate(parse_yaml((QUESTIONS / f"{name}.yaml").read_bytes()))
