"""How results are printed: one function a format."""
