"""`python -m quorum` is the command `quorum` of quorum-harness."""

from quorum_harness import main

main()
