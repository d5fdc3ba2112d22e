"""Raw files: mirror, download, checksums, archives, safe unpickling and file formats."""

from graphtrial.io.sources import File

__all__ = ["File"]
