"""Lint: rules over prompt files."""
