"""Published figures: files of `figures/` that define how to reproduce a figure, and its claims.

The file of an experiment holds the published numbers of its runs (`published:`). A figure file holds the claims in
words, as orders of levels: `order: [debate > individual]` says that the metric is greater for debate. It also states
the margin of each metric, the largest difference that does not matter, with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from quorum.configuration.origin import Scalar
from quorum.storage.plain_yaml import parse_yaml
from quorum_base.user_errors import UserError, choices_hint

FIGURES = Path(__file__).with_name("figures")
_ORDER = re.compile(r"(.+) ([<>]) (.+)")


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Claim(_Part):
    """A claim about the order of levels in a metric."""

    says: str
    """The claim in words."""
    metric: str
    """Full name of the metric, or several that ` + ` and ` - ` combine in each run."""
    order: Sequence[str] = Field(min_length=1)
    """`LEVEL > LEVEL` or `LEVEL < LEVEL`, each judged separately."""
    per: str = ""
    """Another metric, by whose mean the mean is divided: `outcome.success` for tokens per success."""
    by: str = ""
    """The factor of the levels; empty: that of the part."""
    at: Sequence[Scalar] = ()
    """The values of `across` that the claim covers; empty: all."""
    where: Mapping[str, Scalar] = {}
    """Factors with the value that runs must have."""
    control: bool = False
    """Whether the claim is this project's own: no paper states it for these runs."""

    @model_validator(mode="after")
    def _has_orders(self) -> Claim:
        if wrong := [text for text in self.order if not _ORDER.fullmatch(text)]:
            raise ValueError(f"order: {wrong[0]!r} is not LEVEL > LEVEL or LEVEL < LEVEL")
        return self

    @property
    def pairs(self) -> list[tuple[str, Literal[1, -1], str]]:
        """The orders as level, sign of its difference from the other level, other level."""
        found = (_ORDER.fullmatch(text) for text in self.order)
        return [(match[1], 1 if match[2] == ">" else -1, match[3]) for match in found if match is not None]

    @property
    def terms(self) -> list[tuple[str, int]]:
        """The metrics, each with its sign."""
        names, signs = self.metric.split()[::2], self.metric.split()[1::2]
        return [(name, -1 if sign == "-" else 1) for name, sign in zip(names, ["+", *signs], strict=True)]


class Aside(_Part):
    """A published result without a counterpart here."""

    says: str
    """What was published."""
    why: str
    """Why it is not comparable."""


class ExperimentPart(_Part):
    """An experiment whose runs a figure shows."""

    experiment: str
    """Name of the experiment."""
    words: Sequence[str] = ()
    """Default `KEY=VALUE` of the experiment; those of the command override them."""
    by: str = "arm"
    """The factor whose levels are compared."""
    across: str = "n"
    """The factor to compare across."""
    numbers: bool = True
    """Whether the figure shows the published numbers of the experiment."""
    shares: Sequence[str] = ()
    """Metrics that are parts of a whole; a table shows their shares."""
    claims: Sequence[Claim] = ()
    """The claims about these runs."""
    asides: Sequence[Aside] = ()
    """Other published results of them."""


class PublishedFigure(_Part):
    """A published figure or table."""

    paper: str
    """The paper, with its number."""
    figure: str
    """The figure or table in the paper."""
    shows: str
    """What it shows."""
    model: str = ""
    """The language models in the paper; empty: none, or each row of the published table names its own."""
    margins: Mapping[str, str | float]
    """The largest difference that does not matter, by metric: `15 %` of the published value, for an order of the other
    level's mean; or a number in the metric's unit."""
    because: str
    """The reason for the margins."""
    parts: Sequence[ExperimentPart] = Field(min_length=1)
    """The experiments whose runs it shows."""

    def margin(self, metric: str, value: float) -> float:
        """Return the margin of a metric.

        Args:
            metric: its name, or the expression of a claim.
            value: the value that a margin in percent refers to.
        """
        margin = self.margins[metric]
        return abs(value) * float(margin.removesuffix("%")) / 100 if isinstance(margin, str) else margin


def figure_names() -> list[str]:
    """Return the names of all figures."""
    return sorted(file.stem for file in FIGURES.glob("*.yaml"))


def load_figure(name: str) -> PublishedFigure:
    """Read a figure.

    Raises:
        UserError: there is no figure with this name.
    """
    names = figure_names()
    if name not in names:
        raise UserError(f"reproduce {name}: there is no such figure", choices_hint(name, "Figures", names))
    return PublishedFigure.model_validate(parse_yaml((FIGURES / f"{name}.yaml").read_bytes()))
