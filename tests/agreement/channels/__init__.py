"""What every channel promises, asked of each of them."""
