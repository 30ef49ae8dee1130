"""The verbs of the command `quorum`, a file each: parse, call, print. Each imports what it needs when it runs."""
