"""Code shared by LLaMAC and the baselines: joint plans and their faults, messages, prompts and memory."""
