"""Many scenarios at once: ranges of results."""
