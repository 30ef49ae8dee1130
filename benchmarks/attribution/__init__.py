"""A benchmark of blame: labelled failures, methods that name who caused them, and how often they are right."""
