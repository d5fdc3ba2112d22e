"""What the fork server imports once, so that each worker process starts within milliseconds."""

import torch._dynamo  # noqa: F401 - the first optimiser of a process imports it, which takes more than a second

import graphtrial.studies.worker  # noqa: F401
