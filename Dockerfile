# An image of Curd on SQLite, or on PostgreSQL by CURD_DATABASE. Build: docker build -t curd .
# Run: docker run -p 8080:8080 -v curd:/data -e CURD_PUBLIC_URL=http://localhost:8080 curd
# With PostgreSQL and a bucket: compose.yaml.
# A tag can change. To build on exactly the image that you have checked, name its digest, which "docker buildx imagetools
# inspect node:26-slim" prints: docker build --build-arg NODE_IMAGE=node:26-slim@sha256:... -t curd .
ARG NODE_IMAGE=node:26-slim

# The program as a bundle, the console, and the clients that the server offers at /client.tgz and /client/browser.js.
FROM $NODE_IMAGE AS build
WORKDIR /curd
COPY package.json package-lock.json .npmrc tsconfig.json openapi.json ./
COPY client client
COPY console console
COPY bin bin
COPY src src
# Without the sources, which would run where they have changed since the build.
RUN npm ci --omit=dev --ignore-scripts && npm run build && find src -name '*.ts' -delete

# The packages of the server alone. It needs no install script, and no Node for machines with an older one.
FROM $NODE_IMAGE AS packages
WORKDIR /curd
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --ignore-scripts --no-workspaces && rm -rf node_modules/node-linux-* node_modules/.bin

FROM $NODE_IMAGE
LABEL org.opencontainers.image.title="Curd" \
  org.opencontainers.image.description="The server of an online cheese shop" \
  org.opencontainers.image.licenses="MIT"
# "container" makes messages name commands as they work outside: docker exec <container> curd ...
ENV NODE_ENV=production CURD_HOST=0.0.0.0 CURD_DATA_DIR=/data container=docker
WORKDIR /curd
COPY --from=packages /curd/node_modules node_modules
COPY package.json LICENSE ./
COPY bin bin
COPY migrations migrations
COPY --from=build /curd/client/dist/client.tgz client/dist/client.tgz
COPY --from=build /curd/client/dist/browser.js client/dist/browser.js
COPY --from=build /curd/console/dist console/dist
COPY --from=build /curd/src src
COPY --from=build /curd/lib lib
# For other commands: docker exec <container> curd keys list --account local
RUN ln -s /curd/bin/curd.js /usr/local/bin/curd && mkdir /data && chown node:node /data
# Files that commands write, such as backups, are in the volume where they have no other folder.
WORKDIR /data
USER node
VOLUME /data
EXPOSE 8080
HEALTHCHECK --start-period=10s CMD ["node", "-e", "fetch('http://127.0.0.1:' + (process.env.CURD_PORT ?? 8080) + '/healthz').then((response) => process.exit(response.ok ? 0 : 1), () => process.exit(1))"]
# Other commands follow the image name: docker run ... curd keys create --account local
# Node is the first process, so it gets the signals of "docker stop". The flag saves memory under load, as in "npm start".
ENTRYPOINT ["node", "--max-semi-space-size=8", "/curd/bin/curd.js"]
CMD ["serve"]
