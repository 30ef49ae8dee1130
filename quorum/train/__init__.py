"""Train language models in Quorum: episodes in which a policy plays some seats of a team."""
