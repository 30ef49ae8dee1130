"""No child gets a lock that is held for good, and none keeps what belongs to the process that forked it."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

from tests.conftest import PATIENCE, environment

HELD = """
    import os, threading, time
    from {module} import {name} as lock
    held = threading.Event()

    def hold():
        with lock:
            held.set()
            time.sleep(0.2)

    threading.Thread(target=hold).start()
    held.wait()
    if os.fork() == 0:
        with lock:
            os._exit(3)
    print(os.waitstatus_to_exitcode(os.wait()[1]))
    with lock:
        pass
"""
OWNED = """
    import os
    from quorum_base.forks import close_in_children
    kept, gone = close_in_children(open(os.devnull)), close_in_children(open(os.devnull))
    gone.close()
    if os.fork() == 0:
        os._exit(3 + kept.closed)
    print(os.waitstatus_to_exitcode(os.wait()[1]), kept.closed)
    kept.close()
"""


def printed(program: str) -> str:
    command = [sys.executable, "-c", textwrap.dedent(program)]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=True, timeout=PATIENCE)
    return done.stdout.strip()


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("quorum.configuration.overrides", "HYDRA"),
        ("quorum.sweeps.engines.local", "_STARTING"),
        ("quorum_base.compilation.numba_alone", "numba.core.compiler_lock.global_compiler_lock"),
    ],
)
def test_a_child_waits_for_no_lock_that_another_thread_held(module: str, name: str) -> None:
    held = HELD.format(module=module, name=name.partition(".")[0])
    assert printed(held.replace("with lock", f"with {'.'.join(['lock', *name.split('.')[1:]])}")) == "3"


def test_a_child_closes_what_it_was_not_given() -> None:
    assert printed(OWNED) == "4 False"
