INSERT INTO tokens VALUES (x'01', 'agent-1', 'tree-1', 1772366400000, 1772366460000, NULL);
INSERT INTO api_keys VALUES ('editor', x'02', '["read"]', 1772366400000);
