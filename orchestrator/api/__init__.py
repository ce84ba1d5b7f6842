"""HTTP on the Unix socket: a thin face over the command layer. Imports `commands` and below."""
