"""Paints drawings of worlds on pixels: for films, and for models that see. Pillow is imported with its modules."""
