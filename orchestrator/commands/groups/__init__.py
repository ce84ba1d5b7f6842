"""Chats that an agent serves, and those that could be.

`groups` registers them, `group_requests` are the commands for it of main and of groups that may register
others, `group_chats` knows the chats there are, `new_chats` asks operators about them, `first_start` makes
the first one. `snapshots` is what a group's agent may know of all this.
"""
