"""Boxes on a real disk with a real store behind them, and every attack that a container can make."""
