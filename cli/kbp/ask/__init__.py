"""Questions to a person, on the terminal itself."""
