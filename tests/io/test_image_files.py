"""The formats of MNIST and CIFAR-10, from files of the same format made here."""

from __future__ import annotations

import gzip
import io
import pickle
import tarfile
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from graphtrial.core.errors import CorruptFileError
from graphtrial.io.cifar import read_cifar_binary, read_cifar_python
from graphtrial.io.idx import read_idx

Bytes = npt.NDArray[np.uint8]


def write_idx(path: Path, values: Bytes) -> Path:
    sizes = b"".join(size.to_bytes(4, "big") for size in values.shape)
    path.write_bytes(gzip.compress(bytes([0, 0, 8, values.ndim]) + sizes + values.tobytes()))
    return path


def write_tar(path: Path, members: dict[str, bytes]) -> Path:
    with tarfile.open(path, "w:gz") as built:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            built.addfile(info, io.BytesIO(content))
    return path


def cifar_images(seed: int, count: int) -> tuple[Bytes, Bytes]:
    chance = np.random.default_rng(seed)
    images = chance.integers(0, 256, (count, 32, 32, 3), np.uint8)
    return images, chance.integers(0, 10, count, np.uint8)


BATCHES = {**{f"data_batch_{i}": cifar_images(i, 2) for i in range(1, 6)}, "test_batch": cifar_images(6, 3)}


def planes(images: Bytes) -> Bytes:
    return images.transpose(0, 3, 1, 2).reshape(len(images), -1)


def write_binary(path: Path) -> Path:
    built = {
        f"cifar-10-batches-bin/{name}.bin": np.concatenate([labels[:, None], planes(images)], axis=1).tobytes()
        for name, (images, labels) in BATCHES.items()
    }
    return write_tar(path, built)


def write_python(path: Path) -> Path:
    built = {
        f"cifar-10-batches-py/{name}": pickle.dumps(
            {"batch_label": "b", "labels": labels.tolist(), "data": planes(images), "filenames": ["x"] * len(labels)},
            protocol=2,
        )
        for name, (images, labels) in BATCHES.items()
    }
    return write_tar(path, built)


def test_first_mnist_digits_are_read(mirror: Path) -> None:
    images = read_idx(mirror / "MNIST" / "t10k-images-idx3-ubyte.gz")
    labels = read_idx(mirror / "MNIST" / "t10k-labels-idx1-ubyte.gz")
    assert images.shape == (10_000, 28, 28)
    assert labels[:10].tolist() == [7, 2, 1, 0, 4, 1, 4, 9, 5, 9]
    assert images.mean() == pytest.approx(33.79, abs=0.01)  # 0.1325 of 255, as widely quoted for the test set


def test_idx_file_round_trips(tmp_path: Path) -> None:
    values = np.random.default_rng(0).integers(0, 256, (3, 4, 5), np.uint8)
    np.testing.assert_array_equal(read_idx(write_idx(tmp_path / "a.gz", values)), values)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"no gzip", "cannot be unpacked"),
        (gzip.compress(b"x" * 40)[:-8], "cannot be unpacked"),
        (gzip.compress(b"<html>"), "is not an IDX file"),
        (gzip.compress(bytes([0, 0, 8, 1, 0, 0, 0, 9, 1, 2])), r"declares shape \(9,\), but has 2 bytes"),
        (gzip.compress(b""), "is not an IDX file"),
    ],
    ids=["no gzip", "cut off", "a web page", "too short", "nothing"],  # not the bytes, which hold the time
)
def test_corrupt_idx_file_raises(content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "a.gz").write_bytes(content)
    with pytest.raises(CorruptFileError, match=message):
        read_idx(tmp_path / "a.gz")


def test_both_formats_of_cifar_give_the_same_images(tmp_path: Path) -> None:
    binary = read_cifar_binary(write_binary(tmp_path / "binary.tar.gz"))
    python = read_cifar_python(write_python(tmp_path / "python.tar.gz"))
    for (images, labels), (same, again) in zip(binary, python, strict=True):
        np.testing.assert_array_equal(images, same)
        np.testing.assert_array_equal(labels, again)
    np.testing.assert_array_equal(binary[0][0], np.concatenate([BATCHES[f"data_batch_{i}"][0] for i in range(1, 6)]))
    np.testing.assert_array_equal(binary[1][1], BATCHES["test_batch"][1])


def test_pickle_batch_with_code_raises(tmp_path: Path) -> None:
    evil = {f"cifar-10-batches-py/{name}": b"cos\nsystem\n(X\x04\x00\x00\x00truetR." for name in BATCHES}
    with pytest.raises(CorruptFileError, match=r"data_batch_1 was not read: the pickle asks for os.system"):
        read_cifar_python(write_tar(tmp_path / "python.tar.gz", evil))


@pytest.mark.parametrize("batch", [{"data": 1}, {"labels": [1], "data": np.zeros((1, 5), np.uint8)}, [1, 2]])
def test_pickle_batch_of_other_content_raises(batch: object, tmp_path: Path) -> None:
    members = {f"cifar-10-batches-py/{name}": pickle.dumps(batch, protocol=2) for name in BATCHES}
    with pytest.raises(CorruptFileError, match="is not a batch of CIFAR-10 images"):
        read_cifar_python(write_tar(tmp_path / "python.tar.gz", members))


def test_truncated_or_invalid_record_raises(tmp_path: Path) -> None:
    short = {f"cifar-10-batches-bin/{name}.bin": b"x" * 3072 for name in BATCHES}
    with pytest.raises(CorruptFileError, match="not a multiple of the size of a CIFAR-10 record"):
        read_cifar_binary(write_tar(tmp_path / "binary.tar.gz", short))
    wrong = {f"cifar-10-batches-bin/{name}.bin": b"x" * 3073 for name in BATCHES}
    with pytest.raises(CorruptFileError, match="has an image of class 120"):
        read_cifar_binary(write_tar(tmp_path / "binary.tar.gz", wrong))
