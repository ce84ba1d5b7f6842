-- An agent is kept by its provider, which says the driver: two providers of one driver have sessions of
-- their own.
ALTER TABLE agents RENAME COLUMN driver TO provider;
ALTER TABLE sessions RENAME COLUMN driver TO provider;
