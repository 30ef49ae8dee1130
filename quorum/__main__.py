"""`python -m quorum` is the command `quorum`."""

from quorum.cli import main

main()
