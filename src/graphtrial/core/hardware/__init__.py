"""Devices, threads and blocks of work: where and how trials are computed."""
