"""Prompt files from one dialect to another."""
