# docker build -t quorum . && docker run --rm --user "$(id -u)" -v "$PWD/runs:/work/runs" quorum run n=4
FROM python:3.12-slim
WORKDIR /source
COPY pyproject.toml constraints.txt README.md LICENSE CHANGELOG.md quorum_harness.py ./
COPY quorum quorum
COPY quorum_base quorum_base
COPY maeil maeil
COPY cube_env cube_env
COPY crafter_env crafter_env
COPY lbf_env lbf_env
COPY llamac_env llamac_env
COPY overcooked_env overcooked_env
COPY pettingzoo_env pettingzoo_env
RUN pip install --no-cache-dir -c constraints.txt . && rm -rf /source
# Any user may write results and caches of compiled kernels.
ENV HOME=/work NUMBA_CACHE_DIR=/tmp/numba MPLCONFIGDIR=/tmp/matplotlib
RUN useradd --uid 1000 --home-dir /work quorum && mkdir -p /work/runs && chmod -R 0777 /work
USER quorum
WORKDIR /work
ENTRYPOINT ["quorum"]
