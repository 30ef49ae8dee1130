"""The verbs of the `quorum` command, one file each: parse, call, print. Each imports its dependencies when it runs."""
