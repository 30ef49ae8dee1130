"""A benchmark of blame: labelled failures, methods that name a culprit, and how often they are right."""
