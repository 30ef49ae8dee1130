"""Code shared by the environments of several worlds: errors, argument checks, wrappers, ids and grid paths.

It imports no other package of the project, and depends neither on the loop nor on a world.
"""
