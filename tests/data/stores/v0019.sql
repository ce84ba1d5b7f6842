PRAGMA application_id = 1148155493;
PRAGMA user_version = 19;
BEGIN TRANSACTION;
CREATE TABLE agents (
    agent_id    TEXT PRIMARY KEY,
    tree_id     TEXT NOT NULL,
    folder      TEXT NOT NULL,
    chat_jid    TEXT NOT NULL,
    box         TEXT NOT NULL,
    runner      TEXT NOT NULL,
    provider      TEXT NOT NULL,
    status      TEXT NOT NULL,
    is_main     INTEGER NOT NULL,
    is_legacy   INTEGER NOT NULL DEFAULT 0,
    process_ref TEXT,
    started_ms  INTEGER NOT NULL,
    ended_ms    INTEGER,
    exit_code   INTEGER,
    end_reason  TEXT
, rights TEXT NOT NULL DEFAULT 'operator', task_run_id TEXT, kind TEXT NOT NULL DEFAULT 'session', parent_agent_id TEXT, depth INTEGER NOT NULL DEFAULT 0, deadline_ms INTEGER, permissions TEXT, pairs INTEGER NOT NULL DEFAULT 0, lines INTEGER NOT NULL DEFAULT 0, error_lines INTEGER NOT NULL DEFAULT 0) STRICT;
INSERT INTO "agents" VALUES('agent-1','tree-1','family','1203@g.us','family','docker','claude','completed',1,0,NULL,1772366400600,1772366400900,0,'exited','operator',NULL,'session',NULL,0,NULL,NULL,0,0,0);
INSERT INTO "agents" VALUES('agent-2','tree-1','family','1203@g.us','@agent-2','docker','claude','completed',0,0,NULL,1772366400700,1772366400800,NULL,NULL,'operator',NULL,'job','agent-1',1,NULL,NULL,0,0,0);
CREATE TABLE alerts (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    text       TEXT NOT NULL,
    created_ms INTEGER NOT NULL
) STRICT;
INSERT INTO "alerts" VALUES(1,'The disk is low.',1772366400000);
CREATE TABLE api_keys (
    name        TEXT PRIMARY KEY,
    fingerprint BLOB NOT NULL UNIQUE,
    scopes      TEXT NOT NULL,
    created_ms  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "api_keys" VALUES('editor',X'02','["read"]',1772366400000);
CREATE TABLE chats (
    jid              TEXT PRIMARY KEY,
    channel          TEXT NOT NULL,
    name             TEXT,
    is_group         INTEGER NOT NULL DEFAULT 0,
    last_activity_ms INTEGER
, is_member INTEGER) STRICT;
INSERT INTO "chats" VALUES('1203@g.us','whatsapp','Family',1,1772366400000,NULL);
CREATE TABLE contacts (
    lid   TEXT PRIMARY KEY,
    phone TEXT NOT NULL UNIQUE
) STRICT;
INSERT INTO "contacts" VALUES('812@lid','49170@s.whatsapp.net');
CREATE TABLE cursors (
    chat_jid TEXT PRIMARY KEY,
    seq      INTEGER NOT NULL
) STRICT;
INSERT INTO "cursors" VALUES('1203@g.us',2);
CREATE TABLE event_horizon (
    only_one INTEGER PRIMARY KEY CHECK (only_one = 1),
    position INTEGER NOT NULL
) STRICT;
INSERT INTO "event_horizon" VALUES(1,0);
CREATE TABLE event_log (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    tree_id  TEXT NOT NULL,
    seq      INTEGER NOT NULL,
    class    TEXT NOT NULL,
    type     TEXT NOT NULL,
    agent_id TEXT,
    at_ms    INTEGER NOT NULL,
    body     TEXT NOT NULL,
    UNIQUE (tree_id, seq)
) STRICT;
INSERT INTO "event_log" VALUES(1,'tree-1',1,'agent','agent.log','agent-1',1772366400700,'{"message":"hm"}');
CREATE TABLE event_sequences (
    tree_id  TEXT PRIMARY KEY,
    last_seq INTEGER NOT NULL,
    last_ms  INTEGER NOT NULL
) STRICT;
INSERT INTO "event_sequences" VALUES('tree-1',1,1772366400700);
CREATE TABLE facts (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;
INSERT INTO "facts" VALUES('instance','dovecote-0001');
CREATE TABLE groups (
    number           INTEGER PRIMARY KEY AUTOINCREMENT,
    folder           TEXT NOT NULL UNIQUE COLLATE NOCASE,
    jid              TEXT NOT NULL UNIQUE,
    name             TEXT NOT NULL,
    trigger          TEXT NOT NULL,
    assistant_name   TEXT NOT NULL,
    requires_trigger INTEGER NOT NULL DEFAULT 1,
    is_main          INTEGER NOT NULL DEFAULT 0,
    trigger_position TEXT NOT NULL DEFAULT 'start',
    reply_triggers   INTEGER NOT NULL DEFAULT 1,
    timezone         TEXT,
    locale           TEXT NOT NULL DEFAULT 'en',
    added_ms         INTEGER NOT NULL,
    last_served      INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO "groups" VALUES(1,'family','1203@g.us','Family','@Andy','Andy',1,1,'start',1,NULL,'en',1772366400000,0);
CREATE TABLE members (
    chat_jid TEXT NOT NULL,
    jid      TEXT NOT NULL,
    PRIMARY KEY (chat_jid, jid)
) STRICT, WITHOUT ROWID;
INSERT INTO "members" VALUES('1203@g.us','49170@s.whatsapp.net');
CREATE TABLE messages (
    seq           INTEGER PRIMARY KEY AUTOINCREMENT,
    chat_jid      TEXT NOT NULL,
    message_id    TEXT NOT NULL,
    sender_jid    TEXT NOT NULL,
    sender_name   TEXT NOT NULL,
    sender_role   TEXT NOT NULL,
    text          TEXT NOT NULL,
    quoted        TEXT,
    attachments   TEXT,
    sent_ms       INTEGER NOT NULL,
    received_ms   INTEGER NOT NULL,
    is_trigger    INTEGER NOT NULL,
    status        TEXT NOT NULL,
    tries         INTEGER NOT NULL DEFAULT 0,
    deaths        INTEGER NOT NULL DEFAULT 0,
    is_nudged     INTEGER NOT NULL DEFAULT 0,
    held_since_ms INTEGER,
    due_ms        INTEGER NOT NULL DEFAULT 0,
    agent_id      TEXT,
    turn_id       TEXT,
    is_in_turn    INTEGER NOT NULL DEFAULT 0,
    input_file    TEXT, edits TEXT, revision INTEGER NOT NULL DEFAULT 0,
    UNIQUE (chat_jid, message_id)
) STRICT;
INSERT INTO "messages" VALUES(1,'1203@g.us','m-1','49170@s.whatsapp.net','Ann','member','@Andy süß? 🐦','["m-0", "Bob", "what?", false]','[["a.txt", "text/plain", 3, null]]',1772366400000,1772366400500,1,'settled',0,0,0,NULL,0,'agent-1','turn-1',0,NULL,NULL,0);
INSERT INTO "messages" VALUES(2,'1203@g.us','m-2','49171@s.whatsapp.net','Bob','member','@Andy and now?',NULL,NULL,1772366401000,1772366401500,1,'pending',0,0,0,NULL,0,NULL,NULL,0,NULL,NULL,0);
CREATE TABLE names (
    jid  TEXT PRIMARY KEY,
    name TEXT NOT NULL
) STRICT;
INSERT INTO "names" VALUES('49170@s.whatsapp.net','Ann');
CREATE TABLE notices (
    incident  TEXT PRIMARY KEY,
    opened_ms INTEGER NOT NULL,
    count     INTEGER NOT NULL DEFAULT 1,
    told_ms   INTEGER
) STRICT;
INSERT INTO "notices" VALUES('late:1203@g.us',1772366400000,1,1772366400000);
CREATE TABLE outbox (
    id                 INTEGER PRIMARY KEY AUTOINCREMENT,
    chat_jid           TEXT NOT NULL,
    text               TEXT NOT NULL,
    source             TEXT NOT NULL,
    source_key         TEXT NOT NULL,
    part               INTEGER NOT NULL,
    parts              INTEGER NOT NULL,
    status             TEXT NOT NULL,
    attempts           INTEGER NOT NULL DEFAULT 0,
    created_ms         INTEGER NOT NULL,
    send_after_ms      INTEGER NOT NULL DEFAULT 0,
    sent_ms            INTEGER,
    unknown_since_ms   INTEGER,
    was_resent         INTEGER NOT NULL DEFAULT 0,
    agent_id           TEXT,
    turn_id            TEXT,
    reply_to           TEXT,
    channel_message_id TEXT,
    error              TEXT,
    told_with_seq      INTEGER, file_name TEXT, file_type TEXT, file_size INTEGER, spool_name TEXT,
    UNIQUE (source, source_key, part)
) STRICT;
INSERT INTO "outbox" VALUES(1,'1203@g.us','Sweet.','pair','agent-1:1',1,1,'sent',0,1772366400750,0,1772366400760,NULL,0,'agent-1','turn-1',NULL,'w-1',NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "outbox" VALUES(2,'1203@g.us','Not sent yet.','notice','n-1',1,1,'queued',0,1772366400800,0,NULL,NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "outbox" VALUES(3,'1203@g.us','','request','f-1',1,1,'sent',0,1772366400000,0,NULL,NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,'a.pdf','application/pdf',3,'spooled');
CREATE TABLE proposals (
    number     INTEGER PRIMARY KEY AUTOINCREMENT,
    agent_id   TEXT NOT NULL,
    box        TEXT NOT NULL,
    folder     TEXT NOT NULL,
    chat_jid   TEXT NOT NULL,
    command    TEXT NOT NULL,
    request    TEXT NOT NULL,
    rights     TEXT NOT NULL,
    effect     TEXT NOT NULL,
    status     TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    expires_ms INTEGER NOT NULL,
    ended_ms   INTEGER,
    error      TEXT
) STRICT;
INSERT INTO "proposals" VALUES(1,'agent-1','family','family','1203@g.us','send_message','{}','member','Write elsewhere','open',1772366400000,4102444800000,NULL,NULL);
CREATE TABLE questions (
    number      INTEGER PRIMARY KEY AUTOINCREMENT,
    agent_id    TEXT NOT NULL,
    question_id TEXT NOT NULL,
    turn_id     TEXT NOT NULL,
    chat_jid    TEXT NOT NULL,
    question    TEXT NOT NULL,
    options     TEXT NOT NULL,
    status      TEXT NOT NULL,
    asked_ms    INTEGER NOT NULL,
    answer      TEXT,
    chosen      INTEGER,
    UNIQUE (agent_id, question_id)
) STRICT;
INSERT INTO "questions" VALUES(1,'agent-1','q-1','turn-1','1203@g.us','Red or blue?','["red", "blue"]','answered',1772366400700,NULL,NULL);
CREATE TABLE refused_spawns (
  hour_ms    INTEGER NOT NULL,
  caller_key TEXT    NOT NULL,
  code       TEXT    NOT NULL,
  is_kept    INTEGER NOT NULL,
  count      INTEGER NOT NULL,
  last_ms    INTEGER NOT NULL,
  message    TEXT    NOT NULL,
  PRIMARY KEY (hour_ms, caller_key, code, is_kept)
) STRICT, WITHOUT ROWID;
INSERT INTO "refused_spawns" VALUES(1800000000000,'agent:agent-1','DEPTH_EXCEEDED',0,2,1800000001000,'Too deep for family.');
CREATE TABLE requests (
    box        TEXT NOT NULL,
    directory  TEXT NOT NULL,
    name       TEXT NOT NULL,
    inode      INTEGER NOT NULL,
    ctime_ns   INTEGER NOT NULL,
    sha256     BLOB NOT NULL,
    agent_id   TEXT NOT NULL,
    request_id TEXT,
    reply      TEXT NOT NULL,
    is_open    INTEGER NOT NULL DEFAULT 1,
    created_ms INTEGER NOT NULL
) STRICT;
INSERT INTO "requests" VALUES('family','messages','0001.json',1,2,X'00FF','agent-1','r-1','{}',0,1772366400760);
CREATE TABLE sessions (
    folder     TEXT NOT NULL,
    provider     TEXT NOT NULL,
    session_id TEXT NOT NULL,
    updated_ms INTEGER NOT NULL, rights TEXT NOT NULL DEFAULT 'operator',
    PRIMARY KEY (folder, provider)
) STRICT;
INSERT INTO "sessions" VALUES('family','claude','session-1',1772366400900,'member');
CREATE TABLE spawn_texts (
    agent_id TEXT NOT NULL,
    ordinal  INTEGER NOT NULL,
    text     TEXT NOT NULL,
    PRIMARY KEY (agent_id, ordinal)
) STRICT;
INSERT INTO "spawn_texts" VALUES('agent-2',1,'Seen.');
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
, restart_policy TEXT NOT NULL DEFAULT 'never', restarts INTEGER NOT NULL DEFAULT 0, recent_restarts TEXT NOT NULL DEFAULT '[]', start_after_ms INTEGER, earlier_files TEXT NOT NULL DEFAULT '[]', is_left INTEGER NOT NULL DEFAULT 0) STRICT;
INSERT INTO "spawns" VALUES('agent-2','agent-1','agent-1','Look.','/w','[]',0,'none','standard','stop',NULL,NULL,'','{}',1772366400700,1772366460700,60000,NULL,NULL,NULL,'Seen.',NULL,NULL,NULL,NULL,NULL,0,'never',0,'[]',NULL,'[]',0);
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
INSERT INTO "task_runs" VALUES('run-1','task-1',1772366300000,'succeeded',1772366300000,1772366300000,NULL,NULL,1772366301000,NULL,NULL,'Watered.',0,0);
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
, ended_ms INTEGER) STRICT;
INSERT INTO "tasks" VALUES('task-1','family','1203@g.us','plants','Water the plants.','cron','0 9 * * *','Europe/Berlin','group','latest',1,'active','operator',1772366400000,4102444800000,NULL,NULL,0,NULL,NULL,NULL);
CREATE TABLE tokens (
    fingerprint BLOB PRIMARY KEY,
    agent_id    TEXT NOT NULL,
    tree_id     TEXT NOT NULL,
    issued_ms   INTEGER NOT NULL,
    expires_ms  INTEGER NOT NULL,
    revoked_ms  INTEGER
) STRICT, WITHOUT ROWID;
INSERT INTO "tokens" VALUES(X'01','agent-1','tree-1',1772366400000,1772366460000,NULL);
CREATE TABLE trees (
    tree_id           TEXT PRIMARY KEY,
    root_agent_id     TEXT NOT NULL,
    status            TEXT NOT NULL,
    created_ms        INTEGER NOT NULL,
    ended_ms          INTEGER,
    total_agents      INTEGER NOT NULL DEFAULT 1,
    max_depth_reached INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO "trees" VALUES('tree-1','agent-1','terminated',1772366400600,1772366400900,1,0);
CREATE TABLE turns (
    turn_id    TEXT NOT NULL,
    agent_id   TEXT NOT NULL REFERENCES agents (agent_id),
    chat_jid   TEXT NOT NULL,
    started_ms INTEGER NOT NULL,
    ended_ms   INTEGER,
    status     TEXT,
    outputs    INTEGER NOT NULL DEFAULT 0,
    effects    INTEGER NOT NULL DEFAULT 0,
    error      TEXT,
    usage      TEXT, set_off_by TEXT,
    PRIMARY KEY (agent_id, turn_id)
) STRICT;
INSERT INTO "turns" VALUES('turn-1','agent-1','1203@g.us',1772366400700,1772366400800,'success',1,1,NULL,NULL,NULL);
CREATE TABLE usage (
    id                 INTEGER PRIMARY KEY,
    at_ms              INTEGER NOT NULL,
    folder             TEXT NOT NULL,
    agent_id           TEXT NOT NULL,
    turn_id            TEXT,
    provider           TEXT NOT NULL,
    model              TEXT,
    status             INTEGER NOT NULL,
    failure            TEXT,
    input_tokens       INTEGER,
    output_tokens      INTEGER,
    cache_read_tokens  INTEGER,
    cache_write_tokens INTEGER,
    tokens             INTEGER,
    cost_usd           REAL
) STRICT;
INSERT INTO "usage" VALUES(1,1772366400700,'family','agent-1','turn-1','claude','m',200,NULL,10,5,NULL,NULL,15,0.25);
CREATE TABLE waiting_words (
    seq      INTEGER PRIMARY KEY REFERENCES messages (seq) ON DELETE CASCADE,
    name     TEXT NOT NULL,
    argument TEXT NOT NULL
) STRICT;
INSERT INTO "waiting_words" VALUES(2,'new','');
CREATE TABLE waits (
    waiter     TEXT NOT NULL,
    awaited    TEXT NOT NULL,
    wanted     TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    PRIMARY KEY (waiter, awaited)
) STRICT;
INSERT INTO "waits" VALUES('agent-1','agent-2','result',1772366400700);
CREATE TABLE workspace_roots (
    path        TEXT PRIMARY KEY,
    status      TEXT NOT NULL,
    proposed_by TEXT NOT NULL,
    proposed_ms INTEGER NOT NULL,
    decided_ms  INTEGER
) STRICT;
INSERT INTO "workspace_roots" VALUES('/srv/project','approved','agent-1',1772366400000,NULL);
CREATE UNIQUE INDEX only_one_main ON groups (is_main) WHERE is_main = 1;
CREATE INDEX messages_pending ON messages (chat_jid, is_trigger, seq) WHERE status = 'pending';
CREATE INDEX messages_waiting ON messages (chat_jid, seq, due_ms) WHERE status = 'pending' AND is_trigger = 1;
CREATE INDEX messages_dispatched ON messages (agent_id, seq) WHERE status = 'dispatched';
CREATE INDEX messages_at_work ON messages (chat_jid, seq) WHERE status = 'dispatched';
CREATE INDEX messages_unsettled ON messages (chat_jid, seq) WHERE status IN ('pending', 'dispatched');
CREATE INDEX messages_unfinished ON messages (chat_jid, seq) WHERE status IN ('partial', 'failed');
CREATE INDEX agents_live ON agents (status) WHERE status IN ('starting', 'running', 'stopping');
CREATE INDEX agents_of_box ON agents (box, started_ms);
CREATE INDEX outbox_waiting ON outbox (chat_jid, id) WHERE status IN ('queued', 'sending', 'unknown');
CREATE INDEX outbox_of_chat ON outbox (chat_jid, id);
CREATE INDEX outbox_of_turn ON outbox (agent_id, turn_id, id);
CREATE INDEX outbox_ours ON outbox (chat_jid, channel_message_id) WHERE channel_message_id IS NOT NULL;
CREATE INDEX outbox_failed ON outbox (chat_jid, id) WHERE status = 'failed';
CREATE UNIQUE INDEX requests_open ON requests (box, directory, name, inode, ctime_ns, sha256) WHERE is_open = 1;
CREATE INDEX requests_by_id ON requests (agent_id, request_id) WHERE request_id IS NOT NULL;
CREATE INDEX requests_old ON requests (created_ms) WHERE is_open = 0;
CREATE INDEX tasks_due ON tasks (next_run_ms) WHERE status = 'active' AND next_run_ms IS NOT NULL;
CREATE INDEX tasks_of_group ON tasks (folder, status, created_ms);
CREATE UNIQUE INDEX tasks_by_alias ON tasks (folder, alias) WHERE alias IS NOT NULL;
CREATE INDEX task_runs_waiting ON task_runs (due_ms, claimed_ms, planned_ms) WHERE status = 'claimed';
CREATE INDEX task_runs_open ON task_runs (task_id, claimed_ms) WHERE status IN ('claimed', 'started');
CREATE INDEX task_runs_ended ON task_runs (ended_ms) WHERE ended_ms IS NOT NULL;
CREATE INDEX task_runs_of_task ON task_runs (task_id, claimed_ms);
CREATE INDEX task_runs_of_agent ON task_runs (agent_id) WHERE agent_id IS NOT NULL;
CREATE INDEX proposals_open ON proposals (folder, expires_ms) WHERE status = 'open';
CREATE INDEX proposals_ended ON proposals (ended_ms) WHERE ended_ms IS NOT NULL;
CREATE INDEX turns_set_off ON turns (chat_jid, started_ms) WHERE set_off_by IS NOT NULL;
CREATE INDEX messages_of_sender ON messages (sender_jid, received_ms) WHERE is_trigger <> 0;
CREATE INDEX questions_open ON questions (chat_jid, number) WHERE status = 'open';
CREATE INDEX questions_of_chat ON questions (chat_jid, number);
CREATE UNIQUE INDEX outbox_spooled ON outbox (spool_name) WHERE spool_name IS NOT NULL;
CREATE INDEX outbox_files ON outbox (chat_jid, status) WHERE spool_name IS NOT NULL;
CREATE INDEX usage_of_group ON usage (folder, at_ms, tokens, cost_usd);
CREATE INDEX usage_by_time ON usage (at_ms);
CREATE INDEX messages_edits ON messages (chat_jid, edits) WHERE edits IS NOT NULL;
CREATE INDEX agents_unended ON agents (started_ms) WHERE ended_ms IS NULL;
CREATE INDEX agents_pending ON agents (started_ms) WHERE status = 'pending';
CREATE INDEX agents_of_tree ON agents (tree_id, ended_ms);
CREATE INDEX agents_of_parent ON agents (parent_agent_id, started_ms) WHERE parent_agent_id IS NOT NULL;
CREATE INDEX agents_ended ON agents (ended_ms) WHERE ended_ms IS NOT NULL;
CREATE INDEX trees_ended ON trees (ended_ms) WHERE ended_ms IS NOT NULL;
CREATE UNIQUE INDEX spawns_by_key ON spawns (caller_key, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX spawns_of_caller ON spawns (caller_key, created_ms);
CREATE INDEX spawns_to_tell ON spawns (parent_agent_id) WHERE reply_state = 1;
CREATE INDEX waits_for ON waits (awaited);
CREATE INDEX event_log_by_age ON event_log (class, at_ms);
CREATE INDEX event_log_by_class ON event_log (class, position);
CREATE INDEX event_log_of_agent ON event_log (agent_id, type, position) WHERE agent_id IS NOT NULL;
CREATE INDEX usage_of_agent ON usage (agent_id, tokens, cost_usd);
CREATE INDEX tokens_of_agent ON tokens (agent_id, expires_ms);
CREATE INDEX tokens_by_end ON tokens (expires_ms);
CREATE INDEX messages_by_sender ON messages (chat_jid, sender_jid);
CREATE INDEX chats_we_are_in ON chats (channel) WHERE is_member = 1;
CREATE INDEX tasks_ended ON tasks (ended_ms) WHERE ended_ms IS NOT NULL;
CREATE INDEX turns_open ON turns (agent_id, started_ms) WHERE ended_ms IS NULL;
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('groups',1);
INSERT INTO "sqlite_sequence" VALUES('messages',2);
INSERT INTO "sqlite_sequence" VALUES('outbox',3);
INSERT INTO "sqlite_sequence" VALUES('proposals',1);
INSERT INTO "sqlite_sequence" VALUES('alerts',1);
INSERT INTO "sqlite_sequence" VALUES('questions',1);
INSERT INTO "sqlite_sequence" VALUES('event_log',1);
COMMIT;
