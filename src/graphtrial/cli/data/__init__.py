"""`graphtrial data`."""
