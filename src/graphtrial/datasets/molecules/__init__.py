"""Molecules as graphs: from SMILES, and from coordinates in space."""
