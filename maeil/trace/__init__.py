"""The trace of an episode: its events, what writes them and what reads them back."""

from maeil.trace.events import EVENTS, SCHEMA, WALL_FIELDS, Event, Stamped
from maeil.trace.reader import Trace, comparable, read_trace
from maeil.trace.recorder import Listener, Recorder
from maeil.trace.replay import replay

__all__ = [
    "EVENTS",
    "SCHEMA",
    "WALL_FIELDS",
    "Event",
    "Listener",
    "Recorder",
    "Stamped",
    "Trace",
    "comparable",
    "read_trace",
    "replay",
]
