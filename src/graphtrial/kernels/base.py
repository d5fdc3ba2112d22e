"""The contract of a kernel."""

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


class GraphKernel(TransformerMixin, BaseEstimator):
    """A similarity of graphs that is a dot product of counted features.

    `fit` remembers graphs, `transform` compares others with them: a Gram matrix [graphs, fitted graphs] for
    `SVC(kernel="precomputed")`, or with `output="features"` the sparse features themselves for a linear model, in
    columns that the fitted graphs have. With `normalise` every graph has length 1 (cosine similarity). A subclass
    declares its options as constructor arguments and says in `features` what is counted.
    """

    version: ClassVar[int] = 1
    """Raise it whenever the numbers change."""
    explicit: ClassVar[bool] = True
    """The kernel is the dot product of its features; else there is a Gram matrix only."""

    node_labels: bool
    edge_labels: bool = False
    attributes: bool = False
    normalise: bool
    output: Output

    @abstractmethod
    def features(self, structure: Structure) -> sparse.csr_matrix:
        """Return the counted features [graphs, features].

        The order of the columns that some graphs have must not depend on graphs that follow them.
        """

    def compare(self, left: sparse.csr_matrix, right: sparse.csr_matrix) -> Array:
        """Return the kernel of each row of the one with each row of the other."""
        return gram.dot_products(left, right)

    def lengths(self, features: sparse.csr_matrix) -> Array:
        """Return the kernel of each row with itself."""
        return np.asarray(features.multiply(features).sum(axis=1)).reshape(-1)

    def fit(self, X: GraphSet, y: object = None) -> GraphKernel:
        """Remember the graphs that others are compared with; y is not used."""
        self._fit(X)
        return self

    def fit_transform(self, X: GraphSet, y: object = None) -> Array | sparse.csr_matrix:
        """Remember the graphs and compare them with one another."""
        self._fit(X)
        return self._result(self.features_, self.lengths_)

    def transform(self, X: GraphSet) -> Array | sparse.csr_matrix:
        """Compare graphs with the remembered ones."""
        check_is_fitted(self)
        both = self.features(self.structure_.then(self._structure(X)))
        old, new = both[: self.structure_.graphs], both[self.structure_.graphs :]
        return self._result(new[:, np.flatnonzero(old.getnnz(axis=0))], self.lengths(new))

    def _fit(self, graphs: GraphSet) -> None:
        self._check()
        if self.output == "features" and not self.explicit:
            raise GraphTrialError(f"{type(self).__name__} is no dot product of features; use output='gram'")
        self.structure_ = self._structure(graphs)
        features = self.features(self.structure_)
        self.features_ = features[:, np.flatnonzero(features.getnnz(axis=0))]
        self.lengths_ = self.lengths(self.features_)

    def _check(self) -> None:
        """Check all options; scikit-learn wants it done here, not in the constructor."""
        check_arguments(type(self), self.get_params(deep=False), type(self).__name__)

    def _structure(self, graphs: GraphSet) -> Structure:
        if not isinstance(graphs, GraphSet):
            raise GraphTrialError(f"a kernel compares the graphs of a GraphSet, not of a {type(graphs).__name__}")
        return Structure.of(
            graphs, node_labels=self.node_labels, edge_labels=self.edge_labels, attributes=self.attributes
        )

    def _result(self, features: sparse.csr_matrix, lengths: Array) -> Array | sparse.csr_matrix:
        if self.output == "features":
            if not self.normalise:
                return features
            scale = np.divide(1.0, np.sqrt(lengths), out=np.zeros_like(lengths), where=lengths > 0)
            return sparse.csr_matrix(sparse.diags(scale) @ features)
        compared = self.compare(features, self.features_)
        return gram.normalised(compared, lengths, self.lengths_) if self.normalise else compared
