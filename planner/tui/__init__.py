"""The terminal interface: screens and widgets, no arithmetic."""
