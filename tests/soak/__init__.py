"""The soak: a calm hour of mixed load over warm chats, in which nothing is lost and nothing grows unsaid.

`mix` is what people write and what the agents do; `ledger` counts what was said and seen, and times it;
`measures` looks at the processes, the store and the files; `trends` makes the table of first tenth, last
tenth and slope; `play` carries it out; `__main__` runs it: `make soak MINUTES=60`.
"""
