-- How many lines of its standard output and of its standard error were heard of an agent: one that is adopted
-- says all of them again.
ALTER TABLE agents ADD COLUMN lines INTEGER NOT NULL DEFAULT 0;
ALTER TABLE agents ADD COLUMN error_lines INTEGER NOT NULL DEFAULT 0;
