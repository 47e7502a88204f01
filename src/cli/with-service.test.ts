/** Other processes that have the data directory and do not listen, or that listen and do not answer. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { loadConfig } from '../platform/config.js';
import {
  DataDirectoryInUseError,
  OperatorError,
  packageBuild,
  packageVersion,
  type Config,
} from '../platform/index.js';
import type { CommandContext } from './command-context.js';
import { serve } from './commands/serve.js';
import { CommandError, EXIT } from './exit-codes.js';
import { describeFailure } from './failure.js';
import { untilFree, withService } from './with-service.js';
import type { ServiceClient } from './service-client.js';
import type { RunningService, ServiceLoader } from './service-loader.js';

const folders: string[] = [];
const servers: Server[] = [];
afterEach(async () => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function newConfig(): Config {
  const folder = mkdtempSync(join(tmpdir(), 'gannet-client-'));
  folders.push(folder);
  return loadConfig({ argv: [], env: { GANNET_DATA_DIR: folder } });
}

async function listenOn(config: Config, listener: RequestListener): Promise<void> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(join(config.data.dir, 'control.sock'), resolve));
}

/** Returns a loader whose service cannot open the data directory; `tried` is called before each attempt. */
function inUse(tried: () => Promise<void>): ServiceLoader {
  const startService = async (): Promise<RunningService> => {
    await tried();
    throw new DataDirectoryInUseError('The data directory is in use by another process.');
  };
  return () => Promise.resolve({ startService } as unknown as Awaited<ReturnType<ServiceLoader>>);
}

it('withService waits for a service that has the data directory but does not listen yet', async () => {
  const config = newConfig();
  const load = inUse(() => listenOn(config, (_message, response) => response.end('{"status":"ok"}')));
  expect(await withService(config, load, ({ transport }) => Promise.resolve(transport))).toBe('control socket');
});

it('withService waits for another command that has the data directory', async () => {
  let tries = 0;
  const busy = inUse(async () => {});
  const load: ServiceLoader = async () => {
    tries += 1;
    if (tries <= 2) return busy();
    const startService = () => Promise.resolve({ services: {}, close: () => Promise.resolve() });
    return { startService } as unknown as Awaited<ReturnType<ServiceLoader>>;
  };
  expect(await withService(newConfig(), load, ({ transport }) => Promise.resolve(transport))).toBe('data directory');
});

it('untilFree waits for a command that has the data directory, but not for another service', async () => {
  const config = newConfig();
  let tries = 0;
  const start = async (): Promise<string> => {
    tries += 1;
    if (tries === 3) return 'started';
    throw new DataDirectoryInUseError('The data directory is in use by another process.');
  };
  const load = inUse(async () => {});
  expect(await untilFree(config, load, { served: start, free: start })).toBe('started');

  tries = 0;
  await listenOn(config, (_message, response) => response.end('{"status":"ok"}'));
  await expect(untilFree(config, load, { served: start, free: start })).rejects.toThrow(DataDirectoryInUseError);
  expect(tries).toBe(1);
});

it('gannet serve waits for a command that has the data directory', async () => {
  vi.spyOn(process, 'chdir').mockImplementation(() => undefined);
  let tries = 0;
  const startService = (): Promise<RunningService> => {
    tries += 1;
    const failure = tries < 3 ? new DataDirectoryInUseError('It is in use.') : new OperatorError('It was asked again.');
    return Promise.reject(failure);
  };
  const load = () => Promise.resolve({ startService } as unknown as Awaited<ReturnType<ServiceLoader>>);
  const context = { config: newConfig(), load } as unknown as CommandContext;
  await expect(serve(context)).rejects.toThrow('It was asked again.');
  expect(tries).toBe(3);
});

it('withService reports what has the data directory if that takes too long', async () => {
  let nowMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => (nowMs += 4_000));
  let tries = 0;
  const load = inUse(async () => {
    tries += 1;
  });
  await expect(withService(newConfig(), load, () => Promise.resolve())).rejects.toMatchObject({
    message: 'The data directory is in use by another process.',
    status: EXIT.unavailable,
  });
  expect(tries).toBe(3);
});

it('withService gives up on a service that accepts the connection but does not answer', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const config = newConfig();
  let reached = () => {};
  const asked = new Promise<void>((resolve) => {
    reached = resolve;
  });
  await listenOn(config, () => {
    reached();
  });
  const told = expect(
    withService(
      config,
      inUse(async () => {}),
      () => Promise.resolve(),
    ),
  ).rejects.toMatchObject({
    message: expect.stringMatching(
      /accepts connections but has not answered for 30 s: it is paused, hanging/,
    ) as string,
    status: EXIT.unavailable,
  });
  await Promise.race([asked, told]);
  vi.advanceTimersByTime(30_000);
  await told;
});

it.each(['call', 'download'] as const)('withService gives up a %s if the service stops answering', async (how) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const config = newConfig();
  const asked: string[] = [];
  let answered = 0;
  // The service answers two more health checks and nothing else: a call may take long as long as the service is alive.
  await listenOn(config, ({ url = '', socket }, response) => {
    asked.push(url);
    if (url !== '/health' || asked.length > 3) return;
    // The caller closes the connection when it has the answer.
    socket.once('close', () => (answered += 1));
    response.end('{"status":"ok"}');
  });
  const told = expect(
    withService(
      config,
      inUse(async () => {}),
      (client) => client[how]('list.list', { params: { account: 'default' } }),
    ),
  ).rejects.toMatchObject({
    message: expect.stringMatching(/has not answered for 30 s: .* may have been carried out all the same\.$/) as string,
    status: EXIT.unavailable,
  });
  for (const now of [
    [2, 1],
    [3, 2],
    [4, 2],
  ]) {
    await vi.waitFor(() => expect([asked.length, answered]).toEqual(now), { timeout: 60_000 });
    await new Promise((resolve) => setImmediate(resolve));
    vi.advanceTimersByTime(30_000);
  }
  await told;
  expect(asked).toEqual(['/health', '/list/default', '/health', '/health']);
});

it.each([
  ['9.9.9', packageBuild()],
  [packageVersion(), packageBuild()],
  [packageVersion(), 'another'],
  // As services of earlier builds answer.
  [packageVersion(), undefined],
])(
  "Failures with a service of release %s and build %s mention what differs from the command's",
  async (version, build) => {
    const config = newConfig();
    await listenOn(config, ({ url = '' }, response) => {
      const isKnown = url === '/health' || url === '/openapi.json';
      const problem = { code: 'not-found', status: 404, detail: 'There is nothing at this path.' };
      response.statusCode = isKnown ? 200 : 404;
      response.end(JSON.stringify(isKnown ? { info: { version, 'x-build': build } } : problem));
    });
    const failureOf = (work: (client: ServiceClient) => Promise<unknown>) =>
      withService(
        config,
        inUse(async () => {}),
        work,
      ).catch((error: unknown) => describeFailure(error).sentence);
    const isOwn = version === packageVersion() && build === packageBuild();
    const release =
      version === packageVersion()
        ? `The service was started from another build of release ${version} than this command. Restart the service`
        : `The service is release 9.9.9, this command ${packageVersion()}. Restart the service`;
    expect(await failureOf((client) => client.call('plan.list'))).toMatch(
      isOwn
        ? /^There is nothing at this path\. \[404 not-found\]$/
        : `There is nothing at this path. [404 not-found] ${release}`,
    );
    const unforeseen = await failureOf(() => Promise.reject(new TypeError('It has no members.')));
    expect(unforeseen).toMatch(isOwn ? /^Gannet failed because of a bug/ : release);
    expect(await failureOf(() => Promise.reject(new CommandError('No such file.')))).toBe('No such file.');
  },
);
