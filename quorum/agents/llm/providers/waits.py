"""How long a provider asks to wait, in all the formats that providers use."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import isfinite

LONGEST = 31 * 86400.0
"""Seconds: no service asks to wait for more than a month. A larger number is a point in time, or nonsense."""
_UNITS = {"d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3}
_PART = r"\d+(?:\.\d+)?\s*(?:d|h|ms|m|s)(?:[a-z]*)?"
_PARTS = re.compile(r"(\d+(?:\.\d+)?)\s*(d|h|ms|m|s)(?:[a-z]*)", re.IGNORECASE)
_DURATION = re.compile(rf"{_PART}(?:\s*{_PART})*", re.IGNORECASE)
_SAID = re.compile(rf"(?:try again in|retry in|retry after)\s+(?:about\s+)?((?:{_PART})(?:\s*{_PART})*)", re.IGNORECASE)
"""OpenAI, Groq: "Please try again in 7m12.5s"; Gemini: "Please retry in 34.07s"; Azure: "retry after 56 seconds"."""
_LIMITS = ("x-ratelimit-remaining", "anthropic-ratelimit", "ratelimit-remaining")


def retry_after(headers: Mapping[str, str] | None, text: str = "") -> float | None:
    """Return the seconds that a provider asks to wait; None if it gives no meaningful value.

    `retry-after-ms` and `retry-after` come first; then the reset time of a used-up limit (`x-ratelimit-reset-*`,
    `anthropic-ratelimit-*-reset`, `ratelimit-reset`); then the text. A point in time is compared with the server's own
    clock, its `date` header, which may be ahead of ours. Times without a zone are UTC.

    Args:
        headers: headers of the reply.
        text: the provider's message.
    """
    named = {name.lower(): str(value).strip() for name, value in (headers or {}).items()}
    now = _time(named.get("date", "")) or time.time()
    if "retry-after-ms" in named and (found := _seconds(named["retry-after-ms"], now, unit=1e-3)) is not None:
        return found
    if "retry-after" in named and (found := _seconds(named["retry-after"], now)) is not None:
        return found
    waits = [found for value in _resets(named) if (found := _seconds(value, now)) is not None]
    if waits:
        return max(waits)
    said = _SAID.search(text)
    return _duration(said[1]) if said is not None else None


def _resets(headers: Mapping[str, str]) -> Iterator[str]:
    """Return the reset times of the used-up limits."""
    for name, value in headers.items():
        if name.startswith(_LIMITS) and "remaining" in name and value in ("0", "0.0"):
            reset = headers.get(name.replace("remaining", "reset"))
            if reset is not None:
                yield reset


def _seconds(value: str, now: float, unit: float = 1.0) -> float | None:
    """Return the seconds that a value means: a number, a duration, or a point in time by any clock; None if invalid.

    A time in the past means no wait; a negative number means nothing.
    """
    try:
        number = float(value)
    except ValueError:
        then = _time(value)
        seconds = max(then - now, 0.0) if then is not None else _duration(value)
    else:
        epoch = number / 1000 if number > 1e11 else number  # milliseconds: OpenRouter
        is_time = abs(epoch - now) <= LONGEST and unit == 1.0
        seconds = max(epoch - now, 0.0) if is_time and number > LONGEST else number * unit
    return seconds if seconds is not None and isfinite(seconds) and 0 <= seconds <= LONGEST else None


def _duration(value: str) -> float | None:
    """Read a duration such as `6m0s`, `1.5s` or `20ms`."""
    if _DURATION.fullmatch(value.strip()) is None:
        return None
    return sum(float(number) * _UNITS[unit.lower()] for number, unit in _PARTS.findall(value))


def _time(value: str) -> float | None:
    """Read a point in time, as HTTP (RFC 9110) or ISO 8601 writes it."""
    for read in (parsedate_to_datetime, datetime.fromisoformat):
        try:
            found = read(value)
            return (found if found.tzinfo is not None else found.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError, IndexError, TypeError):
            continue
    return None
