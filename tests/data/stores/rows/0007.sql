INSERT INTO usage (at_ms, folder, agent_id, turn_id, provider, model, status, input_tokens, output_tokens, tokens, cost_usd)
VALUES (1772366400700, 'family', 'agent-1', 'turn-1', 'claude', 'm', 200, 10, 5, 15, 0.25);
