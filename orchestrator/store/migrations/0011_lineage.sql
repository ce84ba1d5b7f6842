-- Who started whom. A tree is a root agent with all that came of it; parent_agent_id is the only stored edge.

ALTER TABLE agents ADD COLUMN kind TEXT NOT NULL DEFAULT 'session';
ALTER TABLE agents ADD COLUMN parent_agent_id TEXT;
ALTER TABLE agents ADD COLUMN depth INTEGER NOT NULL DEFAULT 0;
ALTER TABLE agents ADD COLUMN deadline_ms INTEGER;
-- JSON; NULL: all that a root may.
ALTER TABLE agents ADD COLUMN permissions TEXT;
UPDATE agents SET kind = 'job' WHERE task_run_id IS NOT NULL;
-- How many pairs were taken of its output: who reads that again from its first byte passes over so many.
ALTER TABLE agents ADD COLUMN pairs INTEGER NOT NULL DEFAULT 0;
CREATE INDEX agents_unended ON agents (started_ms) WHERE ended_ms IS NULL;
CREATE INDEX agents_pending ON agents (started_ms) WHERE status = 'pending';
CREATE INDEX agents_of_tree ON agents (tree_id, ended_ms);
CREATE INDEX agents_of_parent ON agents (parent_agent_id, started_ms) WHERE parent_agent_id IS NOT NULL;
CREATE INDEX agents_ended ON agents (ended_ms) WHERE ended_ms IS NOT NULL;

-- total_agents: ever, the root too.
CREATE TABLE trees (
    tree_id           TEXT PRIMARY KEY,
    root_agent_id     TEXT NOT NULL,
    status            TEXT NOT NULL,
    created_ms        INTEGER NOT NULL,
    ended_ms          INTEGER,
    total_agents      INTEGER NOT NULL DEFAULT 1,
    max_depth_reached INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX trees_ended ON trees (ended_ms) WHERE ended_ms IS NOT NULL;
INSERT INTO trees (tree_id, root_agent_id, status, created_ms, ended_ms, total_agents)
SELECT tree_id, min(agent_id), CASE WHEN max(ended_ms IS NULL) THEN 'active' ELSE 'terminated' END,
       min(started_ms), CASE WHEN max(ended_ms IS NULL) THEN NULL ELSE max(ended_ms) END, count(*)
  FROM agents GROUP BY tree_id;

-- What an agent was spawned with, and what came of it. caller_key: the credential that asked.
-- answer: what it was told at once. reply_state: of the file in the parent's box, which says how the child
-- stands: 0 nothing to write, 1 to be written.
CREATE TABLE spawns (
    agent_id             TEXT PRIMARY KEY,
    parent_agent_id      TEXT,
    caller_key           TEXT NOT NULL,
    task                 TEXT NOT NULL,
    workspace            TEXT NOT NULL,
    writable_paths       TEXT NOT NULL,
    is_own_workspace     INTEGER NOT NULL,
    wait                 TEXT NOT NULL,
    profile              TEXT NOT NULL,
    on_parent_exit       TEXT NOT NULL,
    name                 TEXT,
    idempotency_key      TEXT,
    body_sha256          TEXT NOT NULL,
    answer               TEXT NOT NULL,
    created_ms           INTEGER NOT NULL,
    deadline_ms          INTEGER NOT NULL,
    effective_timeout_ms INTEGER NOT NULL,
    capped_by            TEXT,
    stop_reason          TEXT,
    stopped_by           TEXT,
    output               TEXT,
    files_modified       TEXT,
    shared_with          TEXT,
    exit_code            INTEGER,
    error                TEXT,
    duration_ms          INTEGER,
    reply_state          INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX spawns_by_key ON spawns (caller_key, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX spawns_of_caller ON spawns (caller_key, created_ms);
CREATE INDEX spawns_to_tell ON spawns (parent_agent_id) WHERE reply_state = 1;

-- What a spawned agent has said so far, one row a pair; joined into its output when it ends.
CREATE TABLE spawn_texts (
    agent_id TEXT NOT NULL,
    ordinal  INTEGER NOT NULL,
    text     TEXT NOT NULL,
    PRIMARY KEY (agent_id, ordinal)
) STRICT;

-- Who is held until another agent is ready or has ended.
CREATE TABLE waits (
    waiter     TEXT NOT NULL,
    awaited    TEXT NOT NULL,
    wanted     TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    PRIMARY KEY (waiter, awaited)
) STRICT;
CREATE INDEX waits_for ON waits (awaited);

-- Directories of the host that spawned agents may be given as workspaces, beside those in the settings.
CREATE TABLE workspace_roots (
    path        TEXT PRIMARY KEY,
    status      TEXT NOT NULL,
    proposed_by TEXT NOT NULL,
    proposed_ms INTEGER NOT NULL,
    decided_ms  INTEGER
) STRICT;
