"""kbp: prompt files in three dialects, read, linted and rendered."""

__version__ = "0.1.0"
