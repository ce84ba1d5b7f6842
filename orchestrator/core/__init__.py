"""Decisions: values in, values out. No clock, no disk, no network, no log.

`chat`, `tasks`, `agents` and `sandbox` decide what their names say, `states` who may change which status. Of
use to all: `authority` is who may do what to whom, `wish_text` (in `wish_words`) what an operator is shown of
a wish before he says yes; `admission` is who runs next, `rate_limit` how often, `backoff` and `reconnects`
when something is tried again, `batch_size` how many requests are taken together, `dir_budgets` how much room
files may take, `events` what readers of events are given; `incidents` is what goes wrong for a while, in
words for operators, `metrics` the numbers of `/metrics`, `service_unit` what a service manager is told.
`text_cleaning` makes texts safe, `wording` says each sentence of ours to people by its key (`sentence_keys`,
`english`), `sentences_about` tells which are about a group. Imports only `contracts`.
"""
