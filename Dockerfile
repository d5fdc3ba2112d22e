# docker build --tag graphtrial .
# docker run --rm --volume "$PWD:/work" graphtrial run csl gcn --encoding laplacian:20 --seeds 1
FROM python:3.11-slim AS dev
# A compiler and make for development; git for the history.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends build-essential git \
    && rm -rf /var/lib/apt/lists/*

FROM python:3.11-slim AS wheel
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY src src
COPY docs/errata.md docs/errata.md
RUN python -m pip wheel --no-cache-dir --no-deps --wheel-dir /wheel .

FROM python:3.11-slim
# An index of small CPU builds of torch, as PyTorch's installation page names it; without it torch brings CUDA.
ARG TORCH_INDEX=""
COPY constraints.txt /tmp/
COPY --from=wheel /wheel /wheel
RUN PIP_EXTRA_INDEX_URL="$TORCH_INDEX" python -m pip install --no-cache-dir --constraint /tmp/constraints.txt /wheel/*.whl \
    && rm -r /wheel /tmp/constraints.txt \
    && useradd --uid 1000 --create-home graphtrial \
    && mkdir /work \
    && chown graphtrial /work
USER 1000
WORKDIR /work
ENV GRAPHTRIAL_HOME=/home/graphtrial/cache
ENTRYPOINT ["graphtrial"]
CMD ["--help"]
