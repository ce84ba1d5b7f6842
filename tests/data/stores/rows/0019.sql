INSERT INTO refused_spawns VALUES (1800000000000, 'agent:agent-1', 'DEPTH_EXCEEDED', 0, 2, 1800000001000, 'Too deep for family.');
