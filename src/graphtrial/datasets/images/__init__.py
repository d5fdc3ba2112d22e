"""Superpixel graphs of images."""
