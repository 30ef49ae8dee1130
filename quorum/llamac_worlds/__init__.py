"""What minds know of LLaMAC's worlds: grid transportation and Gaussian squeeze."""
