"""What the fork server does once, so that each worker process starts within milliseconds."""

import torch._dynamo  # noqa: F401 - the first optimiser of a process imports it, which takes more than a second

import graphtrial.studies.worker  # noqa: F401
from graphtrial.ops import kernels

kernels.warm_up()
