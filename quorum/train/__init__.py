"""Training language models on teams: transcripts and rollouts for trainers."""
