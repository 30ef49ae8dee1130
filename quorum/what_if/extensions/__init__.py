"""Extensions of the loop that branches and probes use."""
