"""The trace of an episode: its events, the recorder that writes them, and the reader."""

from maeil.trace.events import EVENTS, SCHEMA, WALL_FIELDS, Event, Stamped
from maeil.trace.prefix import Instant, Prefix, Repetition
from maeil.trace.reader import Trace, UnknownEvent, comparable, parse_some, parse_trace, read_event, read_trace
from maeil.trace.recorder import Listener, Recorder
from maeil.trace.replay import replay, replay_events

__all__ = [
    "EVENTS",
    "SCHEMA",
    "WALL_FIELDS",
    "Event",
    "Instant",
    "Listener",
    "Prefix",
    "Recorder",
    "Repetition",
    "Stamped",
    "Trace",
    "UnknownEvent",
    "comparable",
    "parse_some",
    "parse_trace",
    "read_event",
    "read_trace",
    "replay",
    "replay_events",
]
