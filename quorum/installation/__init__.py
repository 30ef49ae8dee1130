"""The installation: versions, optional packages, satellites, and third-party extensions."""
