"""What LLaMAC and the baselines share: joint plans and their faults, the letters, the prompts, the memory."""
