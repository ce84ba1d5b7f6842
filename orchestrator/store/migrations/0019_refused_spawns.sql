-- Spawns that were refused, by the hour, by whose wish it was and by why: who is refused may ask without end.
-- is_kept: a copy of the request lies among what was refused of boxes. message: of the last one.
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
