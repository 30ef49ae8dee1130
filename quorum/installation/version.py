"""The version of the distribution, defined only here."""

__version__ = "0.24.0"
