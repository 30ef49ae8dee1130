"""Environments of PettingZoo, parallel and turn by turn, described by themselves or by a YAML file."""
