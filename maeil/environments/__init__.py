"""What the environments of several worlds share: errors, checks of arguments and actions, wrappers, Gymnasium's ids.

It imports nothing of the project, and knows neither the loop nor a world.
"""
