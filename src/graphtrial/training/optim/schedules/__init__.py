"""Learning-rate schedules, one per file."""
