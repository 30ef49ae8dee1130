"""Studies: is an effect real, and what does it consist of?"""
