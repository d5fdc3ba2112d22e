"""Export of prepared datasets: PyG dictionaries, Parquet, and a Croissant description."""

from graphtrial.datasets.export.formats import FORMATS, export

__all__ = ["FORMATS", "export"]
