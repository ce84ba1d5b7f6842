"""When scheduled prompts run: schedules, their next times, and what becomes of missed ones.

`schedule` reads one where it is asked for and finds its next time, with `cron_fields` for the grammar and
`local_time` for what clocks skip and repeat; `refusal` is how a wrong one is put. `catch_up` says what missed
runs are owed.
"""
