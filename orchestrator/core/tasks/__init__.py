"""When scheduled prompts run: schedules, their next times, and what becomes of missed ones."""
