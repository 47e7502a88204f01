import { chmodSync, existsSync, mkdtempSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { itWhere } from '../test/support/skip.js';
import { FEATURES } from './features.js';
import { startService, type RunningService } from './main.js';
import { createDispatcher, LOCAL_VISITOR, operations, type Services } from './operations/index.js';
import { loadConfig } from './platform/config.js';
import { controlSocketPath, OperatorError, type Config } from './platform/index.js';

const running: RunningService[] = [];

function configFor(dataDir: string, more: Record<string, string> = {}): Config {
  return loadConfig({
    argv: [],
    env: { GANNET_DATA_DIR: dataDir, GANNET_PORT: '0', GANNET_LOG_LEVEL: 'silent', ...more },
    declared: FEATURES.flatMap(({ settings }) => settings ?? []),
  });
}

async function start(config: Config, listen = true): Promise<RunningService> {
  const service = await startService(config, { listen });
  running.push(service);
  return service;
}

const newFolder = () => mkdtempSync(join(tmpdir(), 'gannet-main-'));

afterEach(async () => {
  await Promise.all(running.splice(0).map((service) => service.close()));
});

describe('startService', () => {
  it('creates the data directory and the account, serves, and closes cleanly', async () => {
    const dataDir = join(newFolder(), 'made', 'here');
    const service = await start(configFor(dataDir));
    expect(service.services.catalog.accounts().map(({ name }) => name)).toEqual(['default']);
    expect(await (await fetch(`${service.address}/ready`)).json()).toEqual({ status: 'ready' });
    expect((await fetch(`${service.address}/account`)).status).toBe(401);
    const socket = controlSocketPath(dataDir) ?? '';
    expect(statSync(socket).mode & 0o777).toBe(0o600);
    await service.close();
    expect(existsSync(socket)).toBe(false);
    await expect(fetch(`${service.address}/health`)).rejects.toThrow();
  });

  it('refuses a data directory that another service uses, with a clear message', async () => {
    const dataDir = newFolder();
    const first = await start(configFor(dataDir));
    await expect(start(configFor(dataDir))).rejects.toThrow(/in use by another process/);
    await expect(start(configFor(dataDir))).rejects.toThrow(OperatorError);
    await first.close();
    await start(configFor(dataDir));
  });

  it('refuses a port that is in use and leaves nothing open', async () => {
    const first = await start(configFor(newFolder()));
    const port = new URL(first.address ?? '').port;
    const dataDir = newFolder();
    const isRefused = () =>
      expect(start(configFor(dataDir, { GANNET_PORT: port }))).rejects.toThrow(
        new RegExp(`Cannot listen on 127.0.0.1:${port}`),
      );
    await isRefused();
    expect(readdirSync(dataDir), 'a first start that cannot listen makes nothing').toEqual([]);
    await (await start(configFor(dataDir))).close();
    await isRefused();
    await start(configFor(dataDir));
  });

  it('redirects browsers from the root path to the console, but not programs', async () => {
    const { address = '' } = await start(configFor(newFolder()));
    const asked = (accept: string) => fetch(address, { redirect: 'manual', headers: { accept } });
    const led = await asked('text/html,*/*;q=0.8');
    expect([led.status, led.headers.get('location')]).toEqual([302, '/console/']);
    expect([(await asked('*/*')).status, (await asked('application/json')).status]).toEqual([404, 404]);
  });

  it('refuses a data directory that is a file', async () => {
    const file = join(newFolder(), 'file');
    writeFileSync(file, '');
    await expect(start(configFor(file))).rejects.toThrow(OperatorError);
  });

  itWhere(process.getuid?.() !== 0, 'nobody keeps root from writing')(
    'refuses a data directory that it may not create',
    async () => {
      const locked = newFolder();
      chmodSync(locked, 0o500);
      await expect(start(configFor(join(locked, 'data')))).rejects.toThrow(
        /cannot be used: it cannot be made in .+: this user may not do that/,
      );
    },
  );

  it('opens the data directory without HTTP for the command line', async () => {
    const dataDir = newFolder();
    const service = await start(configFor(dataDir), false);
    expect(service.address).toBeUndefined();
    expect(existsSync(controlSocketPath(dataDir) ?? '')).toBe(false);
    const { services } = service;
    expect(await answerOf(services, 'list.list')).toEqual({ status: 200, body: { lists: [] } });
  });

  it('lists ten thousand API keys in pages, each key once', async () => {
    const { services } = await start(configFor(newFolder()), false);
    const { access, catalog } = services;
    const region = catalog.account('default')?.region ?? '';
    const shared = { account: 'default', scope: 'account', scope_target: null, region, expires_at: null } as const;
    const names = Array.from({ length: 10_000 }, (_, number) => `key-${number}`);
    await Promise.all(names.map((name) => access.createKey({ ...shared, name, permissions: ['list:read'] })));
    const sizes: number[] = [];
    const listed: string[] = [];
    for (let query = ''; ;) {
      const { body } = await answerOf(services, 'api-key.list', query);
      const { keys, next } = body as { readonly keys: readonly { readonly name: string }[]; readonly next?: string };
      sizes.push(keys.length);
      listed.push(...keys.map(({ name }) => name));
      if (next === undefined) break;
      query = `after=${encodeURIComponent(next)}`;
    }
    expect(sizes).toEqual(Array.from({ length: 10 }, () => 1000));
    expect(listed.sort()).toEqual(names.sort());
  });
});

/** Returns the answer that the command line gets. */
function answerOf(services: Services, name: string, queryString = '') {
  const dispatcher = createDispatcher(services);
  const operation = operations.find((each) => each.name === name);
  if (operation === undefined) throw new Error(`${name} is gone`);
  const params = { account: 'default' };
  const admission = dispatcher.admit(operation, params, { kind: 'cli' });
  const { signal } = new AbortController();
  const context = { services, ...admission, visitor: LOCAL_VISITOR, requestId: 'x', signal };
  return dispatcher.perform(operation, { params, queryString, contentType: undefined }, context);
}
