"""Optimizers, learning-rate schedules and stopping rules."""
