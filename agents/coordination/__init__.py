"""What central planners and dialogues share: joint plans and their faults, the letters, the prompts, the memory.

LLaMAC (`agents.llamac`) and the baselines (`cmas`, `hmas1`, `hmas2`, `dmas`, `debaters`) are built of it.
"""
