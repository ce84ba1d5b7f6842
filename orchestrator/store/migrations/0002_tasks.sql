-- What is scheduled, and each execution of it.

CREATE TABLE tasks (
    task_id        TEXT PRIMARY KEY,
    folder         TEXT NOT NULL,
    chat_jid       TEXT NOT NULL,
    title          TEXT NOT NULL,
    prompt         TEXT NOT NULL,
    kind           TEXT NOT NULL,
    schedule_value TEXT NOT NULL,
    timezone       TEXT NOT NULL,
    context_mode   TEXT NOT NULL,
    catch_up       TEXT NOT NULL,
    notify         INTEGER NOT NULL,
    status         TEXT NOT NULL,
    rights         TEXT NOT NULL,
    created_ms     INTEGER NOT NULL,
    next_run_ms    INTEGER,
    last_run_ms    INTEGER,
    last_status    TEXT,
    failures       INTEGER NOT NULL DEFAULT 0,
    alias          TEXT,
    paused_why     TEXT
) STRICT;
CREATE INDEX tasks_due ON tasks (next_run_ms) WHERE status = 'active' AND next_run_ms IS NOT NULL;
CREATE INDEX tasks_of_group ON tasks (folder, status, created_ms);
CREATE UNIQUE INDEX tasks_by_alias ON tasks (folder, alias) WHERE alias IS NOT NULL;

-- planned_ms: the slot; NULL for a run asked for by hand. A slot is claimed once, whatever happens.
CREATE TABLE task_runs (
    run_id     TEXT PRIMARY KEY,
    task_id    TEXT NOT NULL REFERENCES tasks (task_id),
    planned_ms INTEGER,
    status     TEXT NOT NULL,
    claimed_ms INTEGER NOT NULL,
    due_ms     INTEGER NOT NULL,
    agent_id   TEXT,
    started_ms INTEGER,
    ended_ms   INTEGER,
    failure    TEXT,
    error      TEXT,
    output     TEXT,
    tries      INTEGER NOT NULL DEFAULT 0,
    deaths     INTEGER NOT NULL DEFAULT 0,
    UNIQUE (task_id, planned_ms)
) STRICT;
CREATE INDEX task_runs_waiting ON task_runs (due_ms, claimed_ms, planned_ms) WHERE status = 'claimed';
CREATE INDEX task_runs_open ON task_runs (task_id, claimed_ms) WHERE status IN ('claimed', 'started');
CREATE INDEX task_runs_ended ON task_runs (ended_ms) WHERE ended_ms IS NOT NULL;
CREATE INDEX task_runs_of_task ON task_runs (task_id, claimed_ms);
CREATE INDEX task_runs_of_agent ON task_runs (agent_id) WHERE agent_id IS NOT NULL;

ALTER TABLE agents ADD COLUMN rights TEXT NOT NULL DEFAULT 'operator';
ALTER TABLE agents ADD COLUMN task_run_id TEXT;
