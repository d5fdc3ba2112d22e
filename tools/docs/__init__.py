"""The documentation site: `python -m tools.docs` executes the tutorials, builds the pages and checks every link."""
