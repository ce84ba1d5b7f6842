"""What the orchestrator remembers and passes around: frozen values and their status words."""
