"""The options of `quorum results` that measure what agents and messages are worth."""

from __future__ import annotations

from typing import Annotated, Any

from quorum.verbs import options
from quorum_base.user_errors import UserError


def credit(
    *,
    credit: Annotated[
        list[str] | None,
        options.values(
            "--credit", "agent|live|message", "Measure what each agent or message is worth.", unset="no credit"
        ),
    ] = None,
    idle_from: Annotated[
        int,
        options.value("--idle-from", "STEP", "With --credit agent, let it idle from this step on.", min=0),
    ] = 0,
    dry_run: options.DryRun = False,
    budget_usd: options.BudgetUsd = None,
    budget_tokens: options.BudgetTokens = None,
    budget_calls: options.BudgetCalls = None,
) -> Any:
    """--credit agent plays each run once more for each agent: the agent idles, and all others act as recorded.

    It asks no mind and no model. --credit live lets the minds of the others think again, and --credit message plays the
    run without each message. The values are metrics `credit.*`, or columns of --per. With paid models, both require a
    budget, --dry-run estimates what they take, and a killed command resumes.

    \b
    Examples:
      quorum results runs/NAME --per agent --credit agent --credit live
      quorum results runs/talk --credit agent --credit message --write
      quorum results runs/NAME --credit live --dry-run
      quorum results runs/NAME --credit live --budget-calls 500
    """
    budgets = {"budget_usd": budget_usd, "budget_tokens": budget_tokens, "budget_calls": budget_calls}
    if not credit:
        if idle_from:
            raise UserError("--idle-from works only with --credit agent", "Add --credit agent.")
        if dry_run or any(limit is not None for limit in budgets.values()):
            raise UserError(
                "--dry-run, --budget-usd, --budget-tokens, --budget-calls: these work only with --credit",
                "Add --credit live or --credit message.",
            )
        return None
    from quorum.configuration.budgets import require_budgets
    from quorum.what_if.blame.attempts import Budget
    from quorum.what_if.blame.credit import Bill, CreditMeasure, kinds_of

    kinds = kinds_of(credit)
    require_budgets(**budgets)
    bill = Bill(Budget(None, budget_calls, budget_usd, budget_tokens), stands_in=dry_run)
    return CreditMeasure(kinds, idle_from, bill)
