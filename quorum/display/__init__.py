"""What the command prints: text, tables and drawings that cannot act on a terminal."""
