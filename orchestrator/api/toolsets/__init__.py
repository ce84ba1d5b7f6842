"""Tool servers for programs outside, spoken as MCP over HTTP: one path a toolset, so that no names clash.

`lazy` stands at the `places` until somebody asks, then the `catalog` is loaded. `serving` carries any
toolset; `spawn` is `/mcp/spawn`, with `config` as its tool `manage_config`.
"""
