"""Templates for `quorum new`: a small, complete, installable package with a component and its test."""
