"""Errors of real-valued predictions: MAE, MSE, RMSE and their logarithms."""

from __future__ import annotations

import math
import sys
from abc import abstractmethod

import torch
from torch import Tensor

from graphtrial.core.errors import GraphTrialError
from graphtrial.metrics.base import METRICS, UNDEFINED, Metric

TINY = sys.float_info.min
"""Smallest error of which a logarithm is taken, in place of 0."""


class ErrorMetric(Metric):
    """Base class of metrics that reduce the mean errors of all target columns to one number."""

    higher_is_better = False
    range = (0.0, math.inf)
    unit = "target"
    output_types = ("real",)

    @abstractmethod
    def error(self, difference: Tensor) -> Tensor:
        """Return the error of each entry, elementwise."""

    def reduce(self, columns: Tensor) -> float:
        """Return the metric from the errors of all labelled columns."""
        return float(columns.mean())

    def columns(self, predictions: Tensor, target: Tensor) -> Tensor:
        """Return the error of each column [targets], NaN for one without labels."""
        errors, mask = self._errors(predictions, target)
        if bool(mask.all()):
            return errors.mean(dim=0)
        return torch.where(mask, errors, 0.0).sum(dim=0) / mask.sum(dim=0)

    def compute(self, predictions: Tensor, target: Tensor) -> float:
        labelled = (~torch.isnan(target)).any(dim=0)
        if not bool(labelled.any()):
            raise GraphTrialError(f"{self.title} is undefined: {UNDEFINED}")
        return self.reduce(self.columns(predictions, target)[labelled])

    def _errors(self, predictions: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
        return self.error(predictions.double() - target.double()), ~torch.isnan(target)


class AbsoluteErrorMetric(ErrorMetric):
    """Base class of metrics of absolute errors."""

    def error(self, difference: Tensor) -> Tensor:
        return difference.abs()


class SquaredErrorMetric(ErrorMetric):
    """Base class of metrics of squared errors."""

    def error(self, difference: Tensor) -> Tensor:
        return difference.square()


@METRICS.register("mae", title="MAE")
class MAE(AbsoluteErrorMetric):
    r"""Mean absolute error, averaged over targets.

    .. math:: \frac{1}{T} \sum_t \frac{1}{n_t} \sum_i |\hat y_{it} - y_{it}|
    """

    name = "mae"
    title = "MAE"

    def compute(self, predictions: Tensor, target: Tensor) -> float:
        errors, mask = self._errors(predictions, target)
        # Without missing labels the mean over columns is the mean over all entries, in one sum.
        return float(errors.mean()) if bool(mask.all()) else super().compute(predictions, target)


@METRICS.register("mse", title="MSE")
class MSE(SquaredErrorMetric):
    r"""Mean squared error, averaged over targets.

    .. math:: \frac{1}{T} \sum_t \frac{1}{n_t} \sum_i (\hat y_{it} - y_{it})^2
    """

    name = "mse"
    title = "MSE"
    unit = "target squared"


@METRICS.register("rmse", title="RMSE")
class RMSE(SquaredErrorMetric):
    r"""Root mean squared error of each target, averaged over targets.

    .. math:: \frac{1}{T} \sum_t \sqrt{\frac{1}{n_t} \sum_i (\hat y_{it} - y_{it})^2}
    """

    name = "rmse"
    title = "RMSE"

    def columns(self, predictions: Tensor, target: Tensor) -> Tensor:
        return super().columns(predictions, target).sqrt()


@METRICS.register("log-mae", title="log MAE")
class LogMAE(AbsoluteErrorMetric):
    r"""Natural logarithm of the MAE of each target, averaged over targets (Klicpera et al. 2020, arXiv:2003.03123).

    .. math:: \frac{1}{T} \sum_t \ln \mathrm{MAE}_t
    """

    name = "log-mae"
    title = "log MAE"
    range = (-math.inf, math.inf)
    unit = "log target"

    def reduce(self, columns: Tensor) -> float:
        return float(columns.clamp_min(TINY).log().mean())


@METRICS.register("log10-mse", title="log10 MSE")
class Log10MSE(SquaredErrorMetric):
    r"""Decimal logarithm of the mean squared error over targets, as on GraphTheoryProp (Corso et al. 2020).

    .. math:: \log_{10} \frac{1}{T} \sum_t \mathrm{MSE}_t
    """

    name = "log10-mse"
    title = "log10 MSE"
    range = (-math.inf, math.inf)
    unit = "log10 target squared"

    def reduce(self, columns: Tensor) -> float:
        return math.log10(max(float(columns.mean()), TINY))
