"""The torture rig: a whole orchestrator under traffic and faults, and a ledger that it does not keep itself.

`plan` draws lives, deeds and faults from a seed; `script` is what the agents do; `trouble` does the faults;
`play` carries a plan out; `far_end` counts what the chat network saw; `verdict` compares that with what the
orchestrator says, `nights` for the task of a night in which the clocks are changed, `leftovers` for all that
should be gone; `__main__` runs on and prints each seed that fails, and the `totals`:
`make torture MINUTES=10 SEED=1`. With `ARGS='--runner docker'` the engine goes away and comes back as well.
With `ARGS=--storm` a run is some 600 messages, 1,000 box requests and 40 kills in two minutes: agents run
`burst_program`, and `bursts` judges each of its requests by name.
WhatsApp's bridge has a storm of its own, `tests.edges.whatsapp.storm`.
`crash_store` and `model` are another rig: the real store, killed between any two statements.
"""
