"""Minds that slip, in all tests of blame."""

from __future__ import annotations

from quorum.configuration.plugins import load_plugins

load_plugins(["slips"])
