"""The commands, on a real store with a clock moved by hand."""
