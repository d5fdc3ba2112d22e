"""Croissant description (MLCommons, version 1.1) of an exported dataset: JSON-LD with checksum, licence and columns."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from graphtrial.core.files import sha256_of, write_text
from graphtrial.datasets.base import PARTS
from graphtrial.datasets.dataset import Dataset

CONFORMS_TO = "http://mlcommons.org/croissant/1.1"
CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "dct": "http://purl.org/dc/terms/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "sc": "https://schema.org/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "description": {"@container": "@language"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "name": {"@container": "@language"},
    **{
        word: f"cr:{word}"
        for word in (
            *("arrayShape", "citeAs", "column", "containedIn", "equivalentProperty", "extract", "field", "fileObject"),
            *("fileProperty", "fileSet", "format", "includes", "isArray", "isLiveDataset", "jsonPath", "key", "md5"),
            *("parentField", "path", "recordSet", "references", "regex", "repeated", "replace", "samplingRate"),
            *("separator", "source", "subField", "transform"),
        )
    },
}
DATA_TYPES = {"bool": "sc:Boolean", **{f"float{bits}": f"cr:Float{bits}" for bits in (16, 32, 64)}}
DATA_TYPES |= {f"int{bits}": f"cr:Int{bits}" for bits in (8, 16, 32, 64)}
DATA_TYPES |= {f"uint{bits}": f"cr:UInt{bits}" for bits in (8, 16, 32, 64)}
RECORDS = "graphs"


def write_croissant(dataset: Dataset, table: Path, columns: dict[str, dict[str, Any]], path: Path) -> None:
    """Write the description of an exported Parquet file; `columns` is the result of `write_parquet`."""
    spec = dataset.spec
    sizes = ", ".join(" / ".join(map(str, sizes)) for sizes in sorted({split.sizes for split in dataset.splits}))
    facts = [
        spec.title,
        f"Task: {dataset.task.name}, scored by {dataset.task.metric.title}.",
        f"{len(dataset.splits)} x {' / '.join(PARTS)} = {sizes} {spec.split_level}s.",
        *([f"Differs from the published data: {difference}."] if (difference := _difference(dataset)) else []),
        f"Content hash {dataset.hash}.",
    ]
    description = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": CONFORMS_TO,
        "name": dataset.name,
        "description": " ".join(facts),
        "license": spec.licence,
        "version": f"{spec.parser_version}.0.0",
        **({"citeAs": spec.paper} if spec.paper != "none" else {}),
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": table.name,
                "name": table.name,
                "contentUrl": table.name,
                "contentSize": f"{table.stat().st_size} B",
                "encodingFormat": "application/x-parquet",
                "sha256": sha256_of(table),
            }
        ],
        "recordSet": [
            {
                "@type": "cr:RecordSet",
                "@id": RECORDS,
                "name": RECORDS,
                "description": "One record per graph.",
                "field": list(_fields(table.name, columns)),
            }
        ],
    }
    write_text(path, json.dumps(description, indent=2, ensure_ascii=False) + "\n")


def _difference(dataset: Dataset) -> str:
    source = next((each for each in dataset.spec.sources if each.name == dataset.provenance["source"]), None)
    return source.difference.rstrip(".") if source is not None else ""


def _fields(table: str, columns: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    fields = [
        _field(table, "edge_index", "sources and targets of the edges", "cr:Int64", [2, -1]),
        _field(table, "num_nodes", "number of nodes", "cr:Int64", []),
    ]
    for column, facts in columns.items():
        kind = "sc:Text" if facts["name"] == "part" else DATA_TYPES[facts["dtype"]]
        shape = [*([] if facts["level"] == "graph" else [-1]), *facts["stored"]]
        meaning = facts["meaning"] or facts["name"]
        types = f", one of {facts['types']} categories" if facts["types"] and facts["name"] != "part" else ""
        fields.append(_field(table, column, f"{meaning}, per {facts['level']}{types}", kind, shape))
    return fields


def _field(table: str, column: str, meaning: str, kind: str, shape: list[int]) -> dict[str, Any]:
    array = {"isArray": True, "arrayShape": ",".join(map(str, shape))} if shape else {}
    return {
        "@type": "cr:Field",
        "@id": f"{RECORDS}/{column}",
        "name": column,
        "description": meaning,
        "dataType": kind,
        **array,
        "source": {"fileObject": {"@id": table}, "extract": {"column": column}},
    }
