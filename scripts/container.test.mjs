/** Tests the health check of the Dockerfile, which must use the address at which the service listens. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const dockerfile = readFileSync(join(import.meta.dirname, '..', 'Dockerfile'), 'utf8');
const [, ...args] = JSON.parse(/^HEALTHCHECK[^]*?CMD (\[.*\])$/m.exec(dockerfile)[1]);

/** Runs the check against a server that listens at `listens` with GANNET_HOST = `host`. Returns the exit status. */
async function checked({ listens, host, status }) {
  const server = createServer((request, response) =>
    response.writeHead(request.url === '/health' ? status : 404).end(),
  ).listen(0, listens);
  await once(server, 'listening');
  const env = { ...process.env, GANNET_HOST: host, GANNET_PORT: String(Object(server.address()).port) };
  const [code] = await once(spawn(process.execPath, args, { env }), 'exit');
  server.close();
  return code;
}

it.each([
  { listens: '0.0.0.0', host: '0.0.0.0', status: 200, code: 0 },
  { listens: '127.0.0.2', host: '127.0.0.2', status: 200, code: 0 },
  { listens: '127.0.0.1', host: '127.0.0.1', status: 500, code: 1 },
])('The health check of the container exits with $code if $host answers $status', async ({ code, ...given }) => {
  expect(await checked(given)).toBe(code);
});
