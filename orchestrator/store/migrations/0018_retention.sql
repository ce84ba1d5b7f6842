-- When a task was over, so that it is known how long it is kept; of those that were before this column the last
-- that is known of them.
ALTER TABLE tasks ADD COLUMN ended_ms INTEGER;
UPDATE tasks
   SET ended_ms = max(created_ms, coalesce(last_run_ms, 0),
                      coalesce((SELECT max(r.ended_ms) FROM task_runs AS r WHERE r.task_id = tasks.task_id), 0))
 WHERE status IN ('completed', 'cancelled');
CREATE INDEX tasks_ended ON tasks (ended_ms) WHERE ended_ms IS NOT NULL;

-- Whoever asks what an agent is at, or closes what it left open, must not walk through all that it ever did.
CREATE INDEX turns_open ON turns (agent_id, started_ms) WHERE ended_ms IS NULL;
