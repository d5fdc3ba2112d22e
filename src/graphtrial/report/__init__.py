"""The report: a static site that opens from disk and asks nothing of any network."""

from graphtrial.report.build import write_site
from graphtrial.report.site import Prepared

__all__ = ["Prepared", "write_site"]
