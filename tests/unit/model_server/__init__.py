"""What the model server for tests decides, without its listener."""
