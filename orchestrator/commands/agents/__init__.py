"""What one may see of agents, and what happens to them.

`agent_sight` says who may see which, `agent_views` how they stand, `overview` all of them at a glance,
`queue_reasons` why one is not started yet,
`agent_waits` waits for one, `progress` is how far one says it is. What happens is noted by
`event_writing`, kept by `event_keeping`, read by `event_views`. `tokens` are what agents are known by.
"""
