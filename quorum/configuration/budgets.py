"""Validation of budgets given by users."""

from __future__ import annotations

from math import isfinite

from quorum_base.user_errors import UserError


def require_budgets(**budgets: float | None) -> None:
    """Check that budgets are positive and finite; NaN would never be reached.

    Args:
        budgets: budgets by option name, with underscores; None for no limit.

    Raises:
        UserError: one is not a finite number above 0.
    """
    for name, value in budgets.items():
        if value is not None and not (value > 0 and isfinite(value)):
            option = f"--{name.replace('_', '-')}"
            raise UserError(
                f"{option} {value}: a budget must be finite and greater than 0", "Leave it out for no limit."
            )
