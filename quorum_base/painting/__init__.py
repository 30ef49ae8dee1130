"""Paints drawings of worlds as pixels, for films and for vision models. Its modules import Pillow."""
