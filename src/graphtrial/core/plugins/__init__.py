"""Plug-ins: code of users, whether it may be imported, and which files define it."""
