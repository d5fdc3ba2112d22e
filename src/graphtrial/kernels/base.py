"""Base class of graph kernels."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.registry import Registry, is_subclass
from graphtrial.core.signatures import check_arguments
from graphtrial.graphs import GraphSet
from graphtrial.kernels import gram
from graphtrial.kernels.structure import Structure

Array = npt.NDArray[Any]
Output = Literal["gram", "features"]

KERNELS: Registry[type[GraphKernel]] = Registry(
    "kernel",
    "graphtrial.kernels",
    fits=lambda thing: is_subclass(thing, GraphKernel),
    wanted="a subclass of graphtrial.kernels.GraphKernel",
)


class GraphKernel(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no type hints
    r"""Base class of graph kernels, scikit-learn transformers with k(G, H) = <phi(G), phi(H)>.

    `fit` stores the training graphs; `transform` returns the Gram matrix [graphs, fitted graphs] for
    `SVC(kernel="precomputed")`, or with `output="features"` the sparse features [graphs, features] for a linear model,
    restricted to the columns of the fitted graphs. `normalise` gives the cosine kernel k(G, H) / sqrt(k(G, G) k(H, H)).
    A subclass takes its options as constructor arguments and implements `features`.
    """

    version: ClassVar[int] = 1
    """Increment whenever the values of the kernel change."""
    explicit: ClassVar[bool] = True
    """Whether the kernel is the dot product of its features; if not, only `output="gram"` is available."""

    node_labels: bool
    edge_labels: bool = False
    attributes: bool = False
    normalise: bool
    output: Output

    @abstractmethod
    def features(self, structure: Structure) -> sparse.csr_matrix:
        """Return the feature map of all graphs [graphs, features].

        The columns of the first graphs and their order must not depend on later graphs.
        """

    def compare(self, left: sparse.csr_matrix, right: sparse.csr_matrix) -> Array:
        """Return the Gram matrix [left rows, right rows]."""
        return gram.dot_products(left, right)

    def diagonal(self, features: sparse.csr_matrix) -> Array:
        """Return k(G, G) of each row."""
        return np.asarray(features.multiply(features).sum(axis=1)).reshape(-1)

    def fit(self, X: GraphSet, y: object = None) -> GraphKernel:
        """Store the graphs that others are compared with; y is ignored."""
        self._fit(X)
        return self

    def fit_transform(self, X: GraphSet, y: object = None) -> Array | sparse.csr_matrix:
        """Fit, and return the Gram matrix (or features) of the fitted graphs."""
        self._fit(X)
        return self._result(self.features_, self.diagonal_)

    def transform(self, X: GraphSet) -> Array | sparse.csr_matrix:
        """Return the Gram matrix with the fitted graphs (or the features)."""
        check_is_fitted(self)
        both = self.features(self.structure_.concatenate(self._structure(X)))
        old, new = both[: self.structure_.graphs], both[self.structure_.graphs :]
        return self._result(new[:, np.flatnonzero(old.getnnz(axis=0))], self.diagonal(new))

    def _fit(self, graphs: GraphSet) -> None:
        self._check()
        if self.output == "features" and not self.explicit:
            raise GraphTrialError(f"{type(self).__name__} has no explicit feature map; use output='gram'")
        self.structure_ = self._structure(graphs)
        features = self.features(self.structure_)
        self.features_ = features[:, np.flatnonzero(features.getnnz(axis=0))]
        self.diagonal_ = self.diagonal(self.features_)

    def _check(self) -> None:
        """Validate the parameters, in `fit` as scikit-learn's convention requires."""
        check_arguments(type(self), self.get_params(deep=False), type(self).__name__)

    def _structure(self, graphs: GraphSet) -> Structure:
        if not isinstance(graphs, GraphSet):
            raise GraphTrialError(f"a kernel compares the graphs of a GraphSet, not of a {type(graphs).__name__}")
        return Structure.of(
            graphs, node_labels=self.node_labels, edge_labels=self.edge_labels, attributes=self.attributes
        )

    def _result(self, features: sparse.csr_matrix, diagonal: Array) -> Array | sparse.csr_matrix:
        if self.output == "features":
            if not self.normalise:
                return features
            scale = np.divide(1.0, np.sqrt(diagonal), out=np.zeros_like(diagonal), where=diagonal > 0)
            return sparse.csr_matrix(sparse.diags(scale) @ features)
        compared = self.compare(features, self.features_)
        return gram.normalised(compared, diagonal, self.diagonal_) if self.normalise else compared
