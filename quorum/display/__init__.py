"""The command's output: text, tables and drawings that cannot control a terminal."""
