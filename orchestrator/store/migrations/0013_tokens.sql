-- Session tokens of agents, so that they can be taken back. fingerprint: SHA-256 of the random value.
CREATE TABLE tokens (
    fingerprint BLOB PRIMARY KEY,
    agent_id    TEXT NOT NULL,
    tree_id     TEXT NOT NULL,
    issued_ms   INTEGER NOT NULL,
    expires_ms  INTEGER NOT NULL,
    revoked_ms  INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX tokens_of_agent ON tokens (agent_id, expires_ms);
CREATE INDEX tokens_by_end ON tokens (expires_ms);

-- Keys of programs outside. fingerprint: SHA-256 of the key. scopes: JSON, a list of words.
CREATE TABLE api_keys (
    name        TEXT PRIMARY KEY,
    fingerprint BLOB NOT NULL UNIQUE,
    scopes      TEXT NOT NULL,
    created_ms  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
