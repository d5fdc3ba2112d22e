"""Instructions of programs, compiled into the interpreter."""
