"""What reaches standard error of the log records of a process."""

from __future__ import annotations

import subprocess
import sys

from tests.conftest import environment


def _reported(program: str) -> str:
    start = "import logging; from quorum.display.logs import show_logs; show_logs('debug');"
    command = [sys.executable, "-c", f"{start}{program}"]
    return subprocess.run(command, env=environment(), capture_output=True, text=True, check=True).stderr


def test_a_record_that_quotes_a_model_cannot_act_on_the_terminal() -> None:
    reported = _reported(r"logging.getLogger('quorum.x').info('clear %s\nnext', '\x1b[2J')")
    assert reported.endswith(" INFO quorum.x: clear ␛[2J\nnext\n")


def test_other_packages_keep_their_level() -> None:
    """Clients of HTTP log what they send, keys among it."""
    reported = _reported("logging.getLogger('httpx').debug('Bearer 1'); logging.getLogger('maeil.x').debug('a plan')")
    assert "a plan" in reported
    assert "Bearer" not in reported
