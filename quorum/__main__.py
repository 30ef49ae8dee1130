"""`python -m quorum` runs the `quorum` command of quorum-harness."""

from quorum_harness import main

main()
