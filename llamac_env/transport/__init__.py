"""Grid transportation, Easy and Hard: the tasks BoxNet1 and BoxNet2 of HMAS-2, as used in the LLaMAC paper."""
