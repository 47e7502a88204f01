import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { loadConfig } from '../../platform/config.js';
import { packageBuild, packageVersion } from '../../platform/index.js';
import type { CommandContext } from '../command-context.js';
import { dataDirectoryChecks } from './data-checks.js';

let folder: string;
let server: Server;
let build: string | undefined;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gannet-doctor-'));
  server = createServer(({ url = '' }, response) => {
    const isKnown = url === '/health' || url === '/openapi.json';
    const problem = { code: 'not-found', status: 404, detail: 'There is nothing at this path.' };
    response.statusCode = isKnown ? 200 : 404;
    response.end(JSON.stringify(isKnown ? { info: { version: packageVersion(), 'x-build': build } } : problem));
  });
  await new Promise<void>((resolve) => server.listen(join(folder, 'control.sock'), resolve));
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  rmSync(folder, { recursive: true });
});

it('Doctor does not say that a service cannot run because it knows less than the command', async () => {
  const config = loadConfig({ argv: [], env: { GANNET_DATA_DIR: folder } });
  const context = { config, load: () => Promise.reject(new Error('not loaded')) } as unknown as CommandContext;
  const checkOfService = async () => (await dataDirectoryChecks(context)).find(({ name }) => name === 'Service');
  for (const other of [undefined, 'another']) {
    build = other;
    expect(await checkOfService()).toEqual({
      name: 'Service',
      state: 'notice',
      detail: `There is nothing at this path. [404 not-found] The service was started from another build of release ${packageVersion()} than this command. Restart the service, or run the gannet that it was started from.`,
    });
  }
  build = packageBuild();
  expect(await checkOfService()).toMatchObject({ state: 'failed', detail: 'There is nothing at this path.' });
});
