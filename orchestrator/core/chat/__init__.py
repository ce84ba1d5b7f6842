"""Chat rules: triggers, batches, cursors, transcripts, splitting and operator words."""
