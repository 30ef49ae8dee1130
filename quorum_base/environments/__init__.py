"""What the environments of several worlds share: errors, checks of arguments, wrappers, ids, and ways on a grid.

It imports nothing of the project, and knows neither the loop nor a world.
"""
