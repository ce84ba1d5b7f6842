"""What is to be done later.

`tasks` makes and changes it, `task_views` shows it, `task_records` what the operator sees beyond that.
"""
