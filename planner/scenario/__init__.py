"""What a user may ask, and how it is read."""
