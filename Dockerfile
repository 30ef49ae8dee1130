# docker build -t quorum . && docker run --rm --user "$(id -u)" -v "$PWD/runs:/data/runs" quorum run n=4
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
ENV HOME=/data NUMBA_CACHE_DIR=/tmp/numba MPLCONFIGDIR=/tmp/matplotlib
RUN useradd --uid 1000 --home-dir /data quorum && mkdir -p /data/runs && chmod -R 0777 /data
USER quorum
WORKDIR /data
ENTRYPOINT ["quorum"]
