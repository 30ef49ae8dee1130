"""Studies: is an effect real, and what is it made of."""
