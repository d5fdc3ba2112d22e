"""Training steps as programs: a model is recorded once, and one compiled call runs a pass over a small batch."""
