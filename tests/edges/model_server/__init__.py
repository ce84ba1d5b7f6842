"""The model server for tests, over real connections."""
