"""What the doctor names: each fault is put into a real home."""
