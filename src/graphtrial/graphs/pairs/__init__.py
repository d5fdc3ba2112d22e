"""Relations between the nodes of each graph, computed from the structure of a batch: walks, distances, expanders."""

from graphtrial.graphs.pairs.distances import shortest_path_distances
from graphtrial.graphs.pairs.expanders import expander_edges
from graphtrial.graphs.pairs.layout import PairLayout, pair_layout
from graphtrial.graphs.pairs.walks import edge_walks, pair_walks

__all__ = ["PairLayout", "edge_walks", "expander_edges", "pair_layout", "pair_walks", "shortest_path_distances"]
