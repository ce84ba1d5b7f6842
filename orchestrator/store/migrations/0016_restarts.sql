-- Spawned agents that are started again. restarts: how many ever. recent_restarts: JSON, epoch ms, those that
-- may count against the limit. start_after_ms: a restarted one waits until then. earlier_files: JSON, what its
-- earlier attempts changed; null: nobody looked. is_left: the attempt of its parent that started it is over,
-- though its parent is not.

ALTER TABLE spawns ADD COLUMN restart_policy TEXT NOT NULL DEFAULT 'never';
ALTER TABLE spawns ADD COLUMN restarts INTEGER NOT NULL DEFAULT 0;
ALTER TABLE spawns ADD COLUMN recent_restarts TEXT NOT NULL DEFAULT '[]';
ALTER TABLE spawns ADD COLUMN start_after_ms INTEGER;
ALTER TABLE spawns ADD COLUMN earlier_files TEXT NOT NULL DEFAULT '[]';
ALTER TABLE spawns ADD COLUMN is_left INTEGER NOT NULL DEFAULT 0;
