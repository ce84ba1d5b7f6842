-- What agents' calls to providers used, one row a call.

-- provider: of our own name. tokens: all that the model read and wrote, cached or not; NULL where its answer
-- does not say. cost_usd: NULL where nobody knows the price. turn_id: NULL outside of any turn.
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
-- It holds what budgets ask for before each call.
CREATE INDEX usage_of_group ON usage (folder, at_ms, tokens, cost_usd);
CREATE INDEX usage_by_time ON usage (at_ms);
