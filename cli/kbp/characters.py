"""Characters that mean something wherever text is read."""

BOM = "\ufeff"
WHITE = " \t\r\n\f"
