"""Our own results, shipped with the package, and how a store becomes a file that can be shipped."""

from graphtrial.shipped.packed import has_shipped_store, shipped_store
from graphtrial.shipped.ship import ship

__all__ = ["has_shipped_store", "ship", "shipped_store"]
