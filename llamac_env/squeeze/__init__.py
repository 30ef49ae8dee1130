"""System resource allocation, the Gaussian squeeze."""
