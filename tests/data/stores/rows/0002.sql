INSERT INTO tasks (task_id, folder, chat_jid, title, prompt, kind, schedule_value, timezone, context_mode, catch_up, notify, status, rights, created_ms, next_run_ms)
VALUES ('task-1', 'family', '1203@g.us', 'plants', 'Water the plants.', 'cron', '0 9 * * *', 'Europe/Berlin', 'group', 'latest', 1, 'active', 'operator', 1772366400000, 4102444800000);
INSERT INTO task_runs (run_id, task_id, planned_ms, status, claimed_ms, due_ms, ended_ms, output)
VALUES ('run-1', 'task-1', 1772366300000, 'succeeded', 1772366300000, 1772366300000, 1772366301000, 'Watered.');
