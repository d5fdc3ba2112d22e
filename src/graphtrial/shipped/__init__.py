"""The store of results shipped with the package, and the export of a store without private data."""

from graphtrial.shipped.packed import has_shipped_store, shipped_store
from graphtrial.shipped.ship import ship

__all__ = ["has_shipped_store", "ship", "shipped_store"]
