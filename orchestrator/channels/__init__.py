"""Chat network adapters, each behind the `Channel` Protocol. Imports `commands` and below."""
