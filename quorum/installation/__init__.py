"""What is installed: versions, optional packages, satellites, and extensions of other people."""
