"""Real agent programs in their walls, with a model server as provider, from a text to its answer."""
