"""PettingZoo environments, parallel and turn-based, described by themselves or by a YAML file."""
