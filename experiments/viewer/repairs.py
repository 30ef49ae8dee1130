"""What the gate before the execution of plans found and did, as a lane of the page."""

from __future__ import annotations

from maeil.trace import Stamped
from maeil.trace import events as e
from quorum.experiments.viewer.pages import Json


def note_repair(repairs: list[Json], stamped: Stamped) -> None:
    """Take an event of the gate into the repairs of a page; judgements that find nothing are left out.

    Args:
        repairs: of the page, in order; the last one is under way until its end is noted.
        stamped: the event.
    """
    match stamped.event:
        case e.RepairChecked(predictor=predictor, violations=violations, verdict=verdict) if verdict != "passed":
            repairs.append(
                {
                    "t": stamped.t,
                    "begins": stamped.t_hat,
                    "predictor": predictor,
                    "verdict": verdict,
                    "violations": list(violations),
                }
            )
        case e.RepairStarted(mode=mode, agents=agents, advice=advice) if repairs:
            repairs[-1] |= {"mode": mode, "agents": list(agents), "advice": advice}
        case e.RepairEnded(replaced=replaced) if repairs:
            repairs[-1] |= {"ends": stamped.t_hat, "replaced": list(replaced)}
