"""The report: a static site that opens from disk, without any network access."""

from graphtrial.report.build import write_report, write_site
from graphtrial.report.site import Prepared

__all__ = ["Prepared", "write_report", "write_site"]
