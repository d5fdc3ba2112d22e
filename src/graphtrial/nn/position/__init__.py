"""Encoders of positional and structural encodings inside a model: raw columns -> vectors of the model's width."""
