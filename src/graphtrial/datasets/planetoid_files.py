"""Files of the citation graphs with their SHA-256 and size."""

PARTS = ("tx", "allx", "y", "ty", "ally", "graph", "test.index")
"""Planetoid files read here; `x`, the first rows of `allx`, is not needed."""

# Dataset hashes of the planetoid source: the graph with the public split, and its link prediction datasets.
PUBLIC_HASHES = {
    "cora": (
        "9a2147c2367e8f11d29c8d2da1089eefd16983de9414be95ab504e3029768331",
        "2e3bcd7d2e88eece85cb05b665a3858376da0842d0706a8e7b165320ff0bc08f",
        "da5b429551e926a14bcbafdd6db405496e69ab7fa9e3410568a2508593506a24",
    ),
    "citeseer": (
        "268219c5bd7ab455f9e42f0d8ee29933c43938249c07b0e7dfa22807b965ca76",
        "79a770dc79687ae94c2ef11d632565270e05020ffff9b620e462c104ff80722b",
    ),
}

# SHA-256 and size of each file.
HASHES = {
    "cora.tx": ("b9afbaa4a400df991f6f02ef677e1e44da55ffc04801fd02f9e673987829226a", 148_025),
    "cora.allx": ("9419ba2f26f5c35243db64aba110e0f35a04851609e0dc5433450676ca6b8543", 257_305),
    "cora.y": ("94465c14eb53e04ca262198dcbb2521ee8af60fb3f3d546cd6ca24a511b0e7d1", 4_054),
    "cora.ty": ("41f5ac76596a1699cc33f53084a2419e92961c42bb75f36fc38e616d348532ad", 28_135),
    "cora.ally": ("2b998f5cc7fedc86e7f97ca2498f47a1ffc1462c29e2d578b23bf3f62b6e7d71", 47_959),
    "cora.graph": ("58f13302f39dde8852dad6fe6d15b89b077b6d7f837626bce671ef80344b383d", 59_847),
    "cora.test.index": ("297ce89af2b51a6a194181c7dbe1796c6a1cf9cd9349a88383b1b1e227867875", 5_000),
    "cora.npz": ("068e22d90c3849b4057dfb05851741428992af058efcd4e7ebb4186f3d581de2", 540_580),
    "citeseer.tx": ("539a8906a2da97628d212f2fdd668c109a8b3f0d36574b59e5d3fd5b5303da21", 260_321),
    "citeseer.allx": ("2ac30345d95c9ec933a817ee0bdd6a5f077f8c184a20e696910192d534414668", 595_021),
    "citeseer.y": ("8ba87e515d8e3ee3cf52f6d2c5b86aa73f11ecad825a808455209ec26cd54924", 3_014),
    "citeseer.ty": ("55e5bd1ba1e733a04598753ad1a8d57957f4b8f89e74519f41f4f4938767e4ce", 24_135),
    "citeseer.ally": ("f704b2d986dde6c2669934de1f3ae5696a6cf9455c0f6b2646a2d135ea0a1c95", 55_623),
    "citeseer.graph": ("d79a4ef9d3e7169aee8946145f6b7306e35bc79bffad26346cfb94e10e9912a7", 61_987),
    "citeseer.test.index": ("2af990671580b6b2df5d158d1038f8292e30c9cd821b5453f399659b25b723d4", 5_000),
    "citeseer.npz": ("280278b21b434c047922e8389518861416fb3ad39389c27865ff0e6bbb0aaab7", 1_348_784),
}
