"""The glossary of metrics, generated from their own descriptions.

`python -m quorum.configuration.glossary` prints the guide page docs/metrics.md.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

from maeil.metrics import METRICS, Metric, metrics_by_group
from quorum.display.terminal import echo
from quorum_base.user_errors import UserError, choices_hint, nearest

_HEAD = """# Metrics

Every metric of a run, grouped by the part before the dot, as its code describes it. `quorum list metrics` prints them,
with those of your plug-ins (`--plugin`); `quorum list metrics.GROUP` prints one group. A metric that a trace does not
define is empty. Metrics marked *wall time* differ between equal runs. Those marked *on demand* are not in a trace: you
request them ([Credits](credit.md)), or the folder of a sweep has them (`model.wasted_*`).
"""


_SHOWN = ("name", "title", "unit", "better", "share", "rate", "reproducible", "on_demand")
"""Metric attributes that are copied into an entry unchanged."""


def glossary(group: str | None = None) -> list[dict[str, Any]]:
    """Return every metric, group by group, as JSON-ready data.

    Args:
        group: return only this group.

    Raises:
        UserError: there is no such group.
    """
    groups = list(dict.fromkeys(one.group for one in METRICS.values()))
    if group is not None and group not in groups:
        raise UserError(f"list: there is no group of metrics {group!r}", choices_hint(group, "Groups", groups))
    return [_plain(one) for one in metrics_by_group() if group in (None, one.group)]


def metric_hint(name: str) -> str:
    """Return a hint for an unknown metric: the three nearest names, and where all are explained."""
    near = nearest(name, [*METRICS, *(metric.partition(".")[2] for metric in METRICS)], most=3)
    return f"{near} `quorum list metrics` explains all.".lstrip()


def _plain(one: Metric) -> dict[str, Any]:
    own = {name: getattr(one, name) for name in _SHOWN}
    return {**own, "description": " ".join(one.description.split())}


def as_text(entries: Sequence[dict[str, Any]], width: int) -> str:
    """Format the glossary for a terminal of `width` characters."""
    lines = []
    for entry in entries:
        lines.append(f"{entry['name']}  ({', '.join(_facts(entry))})")
        lines += textwrap.wrap(entry["description"], max(width, 40), initial_indent="    ", subsequent_indent="    ")
    return "\n".join(lines)


def as_markdown(entries: Sequence[dict[str, Any]]) -> str:
    """Format the glossary as a page with one table."""
    rows = "\n".join(
        f"| `{entry['name']}` | {'; '.join(_facts(entry))} | {entry['description'].replace('|', chr(92) + '|')} |"
        for entry in entries
    )
    return f"{_HEAD}\n| metric | unit | what it measures |\n|---|---|---|\n{rows}\n"


def _facts(entry: dict[str, Any]) -> list[str]:
    bounded = "share, 0 to 1" if entry["share"] else "rate, 0 to 1" if entry["rate"] else ""
    facts = [bounded or entry["unit"] or "number"]
    facts += [f"{entry['better']} is better"] if entry["better"] else []
    facts += [] if entry["reproducible"] else ["wall time" if "second" in entry["name"] else "not reproducible"]
    facts += ["on demand"] if entry["on_demand"] else []
    return facts


if __name__ == "__main__":
    echo(as_markdown(glossary()), nl=False)
