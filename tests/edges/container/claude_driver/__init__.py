"""The driver `claude` with the real package and program, against a model server on this machine."""
