"""The prices of `agents/llm/prices.yaml`, taken from the price map of the newest litellm.

Run from the checkout, with a network; it needs pip, and litellm is not installed:

    python -m benchmarks.prices

`prices.yaml` repeats the figures of the map, in US dollars per million tokens, for the providers of `PAGES`. Each model
of the families in `models.yaml` must be in the map or in `UNPRICED`; the script ends with an error otherwise.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from re import _constants, _parser  # type: ignore[attr-defined]
from textwrap import wrap
from typing import Any

import orjson
import yaml

from quorum.agents.llm import prices, tables

PRICES = Path(tables.__file__).with_name("prices.yaml")
MAP = "litellm/model_prices_and_context_window_backup.json"
PAGES = {
    "anthropic": "platform.claude.com/docs/en/about-claude/pricing",
    "deepseek": "api-docs.deepseek.com/quick_start/pricing",
    "gemini": "ai.google.dev/gemini-api/docs/pricing",
    "groq": "console.groq.com/docs/models",
    "mistral": "docs.mistral.ai/models",
    "openai": "developers.openai.com/api/docs/pricing",
    "together_ai": "api.together.ai/v1/models",
    "xai": "api.x.ai/v1/language-models",
}
"""The source of each provider's prices in the map, by the provider's name there."""
UNPRICED: Mapping[str, Mapping[str, str]] = {
    "anthropic": dict.fromkeys(
        ("claude-fable-5-2", "claude-mythos-5-2"), "named by the types of anthropic 2.11, in no list of prices"
    ),
}
"""Models of the families without a known price, and why, by provider."""

HEAD = """\
# Prices in US dollars per million tokens, by provider and model. `python -m benchmarks.prices` writes this file.
#
# cached: tokens read from the provider's prompt cache; cache_write: tokens read and written into it, usual time.
# tiers: other tiers of service. long: a prompt above so many tokens multiplies what it reads and what it writes.
# A snapshot (`gpt-5-mini-2025-08-07`) stands here only where its price is its own. DeepSeek's are those of peak hours.
# unpriced: models that Quorum knows without a price, and why. Models with the same price share a line.
"""

_SUFFIXES = {prices.BATCH: "_batches", prices.FLEX: "_flex", prices.PRIORITY: "_priority"}
_MODES = ("chat", "responses", "embedding")
_OTHER_USES = re.compile(r"^ft:|audio|tts|image|realtime|live|search|research|computer-use|robotics|guard|container")
_ABOVE = re.compile(r"input_cost_per_token_above_(\d+)k_tokens")
_DIGITS = 6
_LONGEST_KEY = 120
"""Length of the names before a price, in characters; more names take another line."""


def names_of(pattern: str) -> list[str]:
    """Return the names that match a pattern of a family, except names of unlimited length."""
    return list(_names(_parser.parse(pattern)))


def _names(parsed: Any) -> Iterator[str]:
    found = [""]
    for kind, value in parsed:
        if kind is _constants.LITERAL:
            parts = [chr(value)]
        elif kind is _constants.IN:
            parts = [chr(one) for _, one in value]
        elif kind is _constants.SUBPATTERN:
            parts = list(_names(value[3]))
        elif kind is _constants.BRANCH:
            parts = [name for branch in value[1] for name in _names(branch)]
        elif kind is _constants.MAX_REPEAT and value[:2] == (0, 1):
            parts = ["", *_names(value[2])]
        else:
            parts = []
        found = [begin + part for begin in found for part in parts]
    yield from found


def families() -> Iterator[tuple[str, str]]:
    """Yield the models of the families, each with its provider."""
    for provider, patterns in tables.model_table("families", dict[str, dict[str, Any]]).items():
        yield from ((provider, name) for pattern in patterns for name in names_of(pattern))


def price_of(entry: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the price of an entry of the map; None if it has no price per token.

    Raises:
        ValueError: a surcharge for long prompts differs between kinds of tokens read.
    """
    usual = _rates(entry, "")
    if entry.get("mode") not in _MODES or usual is None:
        return None
    tiers = {tier: rates for tier, suffix in _SUFFIXES.items() if (rates := _rates(entry, suffix)) is not None}
    long = _long(entry, usual)
    return {**usual, **({"long": long} if long else {}), **({"tiers": tiers} if tiers else {})}


def _rates(entry: Mapping[str, Any], suffix: str) -> dict[str, float] | None:
    """Return the prices in a tier; a cache without a price costs as much as other tokens. A price of 0 is unknown."""
    read, written = (entry.get(f"{kind}_cost_per_token{suffix}") for kind in ("input", "output"))
    if not read or not (written or entry.get("mode") == "embedding"):
        return None
    kept = {"cached": "cache_read_input_token_cost", "cache_write": "cache_creation_input_token_cost"}
    found = {name: entry.get(f"{key}{suffix}") or read for name, key in kept.items()}
    return {name: _per_million(usd) for name, usd in {"input": read, "output": written or 0.0, **found}.items()}


def _long(entry: Mapping[str, Any], usual: Mapping[str, float]) -> dict[str, float] | None:
    above = [int(found[1]) for key in entry if (found := _ABOVE.fullmatch(key)) and entry[key]]
    if not above:
        return None
    end = f"_above_{above[0]}k_tokens"
    read, written = (_per_million(entry[f"{kind}_cost_per_token{end}"]) for kind in ("input", "output"))
    kept = _per_million(entry.get(f"cache_read_input_token_cost{end}", 0.0))
    factors = {round(read / usual["input"], _DIGITS), *([round(kept / usual["cached"], _DIGITS)] if kept else [])}
    if len(above) > 1 or len(factors) > 1:
        raise ValueError(f"a surcharge that prices.yaml has no form for: {end}: {sorted(factors)}")
    return {"above": above[0] * 1000, "input": factors.pop(), "output": round(written / usual["output"], _DIGITS)}


def _per_million(usd: float) -> float:
    return round(float(usd) * prices.MILLION, _DIGITS)


def price_lists(entries: Mapping[str, Any], version: str, day: date) -> dict[str, dict[str, Any]]:
    """Return the content of `prices.yaml`.

    Args:
        entries: litellm's map.
        version: version of litellm.
        day: day on which this version was the newest.
    """
    found: dict[str, dict[str, Any]] = {}
    for provider, page in PAGES.items():
        own = {
            name.removeprefix(f"{provider}/"): entry
            for name, entry in entries.items()
            if entry.get("litellm_provider") == provider and not _OTHER_USES.search(name)
        }
        models = {name: price for name in sorted(own) if (price := price_of(own[name])) is not None}
        if not models:
            continue
        found[provider] = {
            "source": f"{page}, as in the price map of litellm {version}",
            "date": day.isoformat(),
            "models": {name: price for name, price in models.items() if models.get(base_name(name)) != price},
            **({"unpriced": dict(UNPRICED[provider])} if provider in UNPRICED else {}),
        }
    return found


def base_name(model: str) -> str:
    """Return the name of a snapshot's model; empty if the name is not a snapshot."""
    snapshot = prices.SNAPSHOT.fullmatch(model)
    return snapshot["name"] if snapshot is not None else ""


def text_of(lists: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the text of `prices.yaml`: a line for each price."""
    lines = [HEAD]
    for provider, known in lists.items():
        lines += [f"{provider}:\n", f"  source: {known['source']}\n", f'  date: "{known["date"]}"\n', "  models:\n"]
        names: dict[str, list[str]] = {}
        for name, price in known["models"].items():
            written = yaml.safe_dump(price, default_flow_style=True, sort_keys=False, width=10**6).strip()
            names.setdefault(written, []).append(name)
        for price, alike in names.items():
            keys = wrap(prices.SEPARATOR.join(alike), _LONGEST_KEY, break_long_words=False, break_on_hyphens=False)
            lines += [f"    {key.rstrip(',')}: {price}\n" for key in keys]
        if "unpriced" in known:
            lines += ["  unpriced:\n", *(f"    {name}: '{why}'\n" for name, why in known["unpriced"].items())]
    return "".join(lines)


def missing(lists: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return the providers without a list, and the models of the families that have neither a price nor a reason."""
    known = {(provider, name) for provider, one in lists.items() for name in (*one["models"], *one.get("unpriced", ()))}
    return [
        *(PAGES.keys() - lists.keys()),
        *(f"{provider} {name}" for provider, name in families() if (provider, name) not in known),
    ]


def newest() -> tuple[dict[str, Any], str]:
    """Download the newest litellm, and return its map and its version."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, "litellm"]
        subprocess.run(command, check=True)
        (wheel,) = Path(folder).glob("litellm-*.whl")
        with zipfile.ZipFile(wheel) as content:
            return orjson.loads(content.read(MAP)), wheel.name.split("-")[1]


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the file."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args(
        arguments
    )
    entries, version = newest()
    lists = price_lists(entries, version, date.today())
    if left := missing(lists):
        print(f"no price, and no reason in UNPRICED: {', '.join(left)}", file=sys.stderr)
        return 1
    PRICES.write_text(text_of(lists), encoding="utf-8")
    print(f"{PRICES}: {sum(len(known['models']) for known in lists.values())} models, litellm {version}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
