"""The package loads what is heavy when it is used, and what it offers is there."""

from __future__ import annotations

import subprocess
import sys

import llamac_env


def test_names_need_neither_numpy_nor_pettingzoo_nor_the_solver():
    code = (
        "import sys, llamac_env; llamac_env.Colour, llamac_env.Code;"
        "sys.exit(bool({'numpy', 'pydantic', 'pettingzoo', 'ortools'} & set(sys.modules)))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_name_that_is_offered_is_there():
    assert len(set(llamac_env.__all__)) == len(llamac_env.__all__)
    assert all(getattr(llamac_env, name) is not None for name in llamac_env.__all__)
    assert dir(llamac_env) == sorted(llamac_env.__all__)
