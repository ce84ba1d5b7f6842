"""Chat rules: triggers, batches, transcripts, what follows a death, splitting and operator words."""
