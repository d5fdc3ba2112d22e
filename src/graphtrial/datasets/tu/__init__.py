"""TU datasets: the graph collection of TU Dortmund, by name.

`enzymes`, `ENZYMES` and `tu/enzymes` name the same dataset, which is called `enzymes`: the name of the collection in
lower case. `tu/qm9` and `tu/collab` keep the prefix, because the plain name could mean another dataset. A set outside
the catalog is `tu/NAME`, written as its archive `TU/NAME.zip` is. Node features are selected after a plus
sign: `enzymes+labels`.
"""

from graphtrial.datasets.tu.catalog import CATALOG, Entry
from graphtrial.datasets.tu.collection import TUDataset
from graphtrial.datasets.tu.reader import read_folder

__all__ = ["CATALOG", "Entry", "TUDataset", "read_folder"]
