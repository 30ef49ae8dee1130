"""The minds' skills for LLaMAC's worlds: grid transportation and Gaussian squeeze."""
