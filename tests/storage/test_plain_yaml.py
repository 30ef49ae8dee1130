"""Untrusted YAML: what the project writes reads back the same, and nothing but plain data is read."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from quorum.configuration.cell import _Dumper
from quorum.storage import plain_yaml
from quorum.storage.plain_yaml import DEEPEST, NotPlain, parse_yaml

TEXTS = st.text(st.characters(codec="utf-8")) | st.sampled_from(
    ["", "yes", "1e3", "1_000", "0x10", "1:30", "2020-01-01", "=", "<<", "null", "~", ".inf", "a: b", "- a", "'", '"']
)
SCALARS = (
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False, allow_infinity=False)
) | TEXTS
DATA = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner), max_leaves=12)
LOADERS = [yaml.SafeLoader, *([yaml.CSafeLoader] if yaml.__with_libyaml__ else [])]


@pytest.fixture(params=LOADERS, autouse=True, scope="module")
def loader(request: pytest.FixtureRequest) -> Any:
    """Read with libyaml and without it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plain_yaml, "_LOADER", request.param)
        yield


@given(DATA)
def test_what_is_written_reads_back_the_same(data: Any) -> None:
    text = yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True)
    if "&id" not in text:  # a value that stands twice, which no configuration has
        found = parse_yaml(text.encode())
        assert found == data
        assert repr(found) == repr(data)


REFUSED = {
    "a tag": ("a: !!python/object/apply:os.mkdir [x]", r"the tag .* is not allowed in a configuration \(line 1\)"),
    "a tag of YAML": ("a: !!str 5", "the tag"),
    "bytes": ("a: !!binary aGFsbG8=", "the tag"),
    "a date": ("n: 1\na: 2020-01-01", r"a timestamp is not allowed in a configuration \(line 2\)"),
    "a merge": ("<<: {a: 1}", "a merge"),
    "an alias": ("a: &x [1]\nb: *x", r"an alias is not allowed in a configuration \(line 2\)"),
    "itself": ("a: &a [*a]", "an alias"),
    "laughs": ("a: &a [x]\n" + "".join(f"{c}: &{c} [*{p},*{p}]\n" for p, c in pairwise("abcdef")), "alias"),
    "digits": (f"a: {'9' * 5000}", "a number of 5000 characters"),
    "sixties": (f"a: 1{':1' * 40}", "a number of more than 64 bits"),
    "beyond 64 bits": ("a: 18446744073709551616", "a number of more than 64 bits"),
    "infinity": ("a: .inf", "a number that is not finite"),
    "overflow": ("a: 1.0e+999", "a number that is not finite"),
    "half a character": (r'a: "\ud800"', "half a character|found invalid Unicode|escape"),
    "a number as a key": ("1: a", "a key that is not text"),
    "a list as a key": ("[a]: b", "a key that is not text"),
    "a key twice": ("a: 1\na: 2", r"the repeated key 'a' .* \(line 2\)"),
    "two documents": ("a: 1\n---\nb: 2", "several documents"),
    "no YAML": ("{", r"line 1|line 2"),
    "no text": (b"\xff\xfe\xfa", "."),
    "deep lists": ("[" * 100_000, "inside one another"),
    "deep maps": ("{a: " * 100_000, "inside one another"),
    "deep blocks": ("- " * 100_000, "inside one another"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_plain_data_is_refused_in_one_line(case: str) -> None:
    text, reported = REFUSED[case]
    with pytest.raises(NotPlain, match=reported) as caught:
        parse_yaml(text if isinstance(text, bytes) else text.encode())
    assert "\n" not in str(caught.value)


def test_nesting_up_to_the_bound_is_read() -> None:
    found = parse_yaml(b"[" * DEEPEST + b"]" * DEEPEST)
    for _ in range(DEEPEST - 1):
        (found,) = found
    assert found == []


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("# nothing", None),
        ("5", 5),
        ("0x10", 16),
        ("1_000", 1000),
        ("1.5e+3", 1500.0),
        ("yes", True),
        ("~", None),
    ],
)
def test_scalars_are_those_of_yaml(text: str, value: Any) -> None:
    found = parse_yaml(text.encode())
    assert (found, type(found)) == (value, type(value))
    assert not (isinstance(found, float) and math.isnan(found))
