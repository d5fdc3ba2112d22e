"""What must never change under its name and version: declared defaults, and ids of specifications."""
