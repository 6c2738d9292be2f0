"""Completion of a command line, called by the shell at every press of Tab: it starts within some milliseconds.

Nothing at the top of these modules imports more than `os`, `sys` and the tables: what starts slowly is imported where a
table on disk is missing or old.
"""
