"""What if: branches of recorded runs, blame, credit and probes."""
