"""Words, word vectors and splits."""

from __future__ import annotations

import gzip
import json
import random
import string
from pathlib import Path

import numpy as np
import pytest

from graphtrial.core.errors import CorruptFileError, GraphTrialError
from graphtrial.datasets.generators.wikics import SIZES
from graphtrial.wikipedia.splits import draw_masks
from graphtrial.wikipedia.text.glove import mean_vector, read_vectors
from graphtrial.wikipedia.text.stopwords import ENGLISH, read_stop_words
from graphtrial.wikipedia.text.tokens import tokenizer


@pytest.mark.slow
def test_tokens_are_lower_case_without_stop_words_and_punctuation() -> None:
    actual = tokenizer()("The \"Linux\" kernel's scheduler (2.6) isn't the same. Dr. Smith wrote it... in C++!")
    assert actual == ["linux", "kernel", "scheduler", "2.6", "n't", "dr", "smith", "wrote", "...", "c++"]


def test_dropped_tokens_are_punctuation() -> None:
    assert "./" in string.punctuation
    assert tokenizer(frozenset())("a ! ./ -- ,") == ["a", "--"]


def test_sentence_ends_are_separated_from_words() -> None:
    assert tokenizer()("First sentence. Second sentence.") == ["first", "sentence", "second", "sentence"]


def test_punkt_abbreviations_are_used(tmp_path: Path) -> None:
    for name in ("collocations.tab", "sent_starters.txt", "ortho_context.tab"):
        (tmp_path / name).write_text("")
    (tmp_path / "abbrev_types.txt").write_text("approx\n")
    (tmp_path / "collocations.tab").write_text("st\tjohn\n")
    text = "It has approx. 5 parts."
    assert "approx." not in tokenizer()("It is approx. Five parts.")
    assert "approx." in tokenizer(punkt=tmp_path)(text)
    with pytest.raises(GraphTrialError, match="punkt_tab"):
        tokenizer(punkt=tmp_path / "nothing")


def test_other_stop_words_are_read_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("Le\nla\n\n", encoding="utf-8")
    words = read_stop_words(tmp_path / "words.txt")
    assert tokenizer(words)("Le chat et la souris") == ["chat", "et", "souris"]
    assert len(ENGLISH) == 179
    with pytest.raises(GraphTrialError, match="stop words"):
        read_stop_words(tmp_path / "nothing.txt")


def test_vectors_of_the_sample_match_a_naive_parser(mirror: Path) -> None:
    path = mirror / "wiki_samples" / "test_glove.txt"
    expected = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        word, *numbers = line.split(" ")
        expected[word] = [float(number) for number in numbers]
    rows, vectors, counts = read_vectors(path, set(expected))
    assert {word: vectors[row].tolist() for word, row in rows.items()} == expected
    assert counts == {"lines": 76, "broken": 0}
    some, fewer, _ = read_vectors(path, {"the", "nowhere"})
    assert list(some) == ["the"]
    assert fewer.shape == (1, 50)


@pytest.mark.parametrize("packed", [False, True])
def test_unusual_vector_lines_are_parsed_or_counted(tmp_path: Path, packed: bool) -> None:
    text = "5 2\nthe 1 2\n. . . 3 4\nshort 1\nbad x y\nnan nan 1\nthe 5 6\n\nlast 7 8"
    path = tmp_path / ("v.txt.gz" if packed else "v.txt")
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    rows, vectors, counts = read_vectors(path, {"the", ". . .", "last", "bad", "nan", "short"})
    assert {word: vectors[row].tolist() for word, row in rows.items()} == {
        "the": [5.0, 6.0],
        ". . .": [3.0, 4.0],
        "last": [7.0, 8.0],
    }
    assert counts["broken"] == 4
    (tmp_path / "empty.txt").write_text("")
    with pytest.raises(CorruptFileError, match="no word vectors"):
        read_vectors(tmp_path / "empty.txt", set())


def test_mean_divides_by_the_number_of_all_tokens() -> None:
    rows, vectors = {"a": 0, "b": 1}, np.array([[1.0, 2.0], [3.0, 5.0]])
    assert mean_vector(["a", "b", "a", "x"], rows, vectors).tolist() == [5 / 4, 9 / 4]
    assert mean_vector(["x"], rows, vectors).tolist() == [0, 0]
    assert mean_vector([], rows, vectors).tolist() == [0, 0]


def test_vectors_are_summed_in_token_order() -> None:
    generator = np.random.Generator(np.random.PCG64(0))
    vectors = generator.normal(size=(50, 7))
    tokens = [str(number) for number in generator.integers(0, 50, 500)]
    total = np.zeros(7)
    for token in tokens:
        total += vectors[int(token)]
    assert np.array_equal(mean_vector(tokens, {str(n): n for n in range(50)}, vectors), total / 500)


def test_splits_have_the_published_sizes() -> None:
    classes = np.repeat(np.arange(len(SIZES)), SIZES)
    masks = draw_masks(classes, len(SIZES))
    assert {name: set(mask.reshape(-1, len(classes)).sum(axis=1).tolist()) for name, mask in masks.items()} == {
        "train": {580},
        "stopping": {3505},
        "val": {1769},
        "test": {5847},
    }
    assert len({mask.tobytes() for mask in masks["train"]}) == 20


def test_splits_match_a_hand_computed_example() -> None:
    ids = list(range(20))
    generator = random.Random(42)
    generator.shuffle(ids)
    rest = ids[10:]
    generator.shuffle(rest)
    masks = draw_masks(np.zeros(20, np.int64), 1)
    assert np.flatnonzero(masks["test"]).tolist() == sorted(ids[:10])
    assert np.flatnonzero(masks["train"][0]).tolist() == rest[:1]
    assert np.flatnonzero(masks["stopping"][0]).tolist() == sorted(rest[1:7])
    assert np.flatnonzero(masks["val"][0]).tolist() == sorted(rest[7:])


def test_class_without_articles_is_in_no_split() -> None:
    masks = draw_masks(np.array([0, 0, 2, 2]), 3)
    assert json.dumps(masks["test"].tolist()).count("true") == 2
