/**
 * Connects to the service: through the control socket of the service that runs on this data directory or, if none runs,
 * by opening the data directory in this process.
 */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DataDirectoryInUseError, type Config } from '../platform/index.js';
import { CommandError, EXIT } from './exit-codes.js';
import type { ServiceClient } from './service-client.js';
import type { ServiceLoader } from './service-loader.js';

/**
 * How long another process may have the data directory without listening on the control socket: a service that starts
 * or stops, or another command.
 */
const IN_USE_MS_MAX = 10_000;
const IN_USE_PAUSE_MS = 100;

function connectService(config: Config, load: ServiceLoader): Promise<ServiceClient> {
  return untilFree(config, load, {
    served: (running) => Promise.resolve(running),
    async free() {
      const { openInProcess } = await import('./in-process-client.js');
      return openInProcess(config, load);
    },
  });
}

interface WaysOn<Result> {
  /** Called if a service has the data directory. */
  readonly served: (running: ServiceClient) => Promise<Result>;
  /** Called if nobody seems to have it; called again after a DataDirectoryInUseError. */
  readonly free: () => Promise<Result>;
}

/**
 * Waits until it is clear who has the data directory. Rejects with a CommandError if another process has it for too
 * long.
 */
export async function untilFree<Result>(
  config: Config,
  load: ServiceLoader,
  { served, free }: WaysOn<Result>,
): Promise<Result> {
  const { connectControlSocket } = await import('./control-socket-client.js');
  const giveUpAtMs = performance.now() + IN_USE_MS_MAX;
  for (;;) {
    const running = await connectControlSocket(config, load);
    if (running !== undefined) return served(running);
    try {
      return await free();
    } catch (error) {
      if (!(error instanceof DataDirectoryInUseError)) throw error;
      if (performance.now() >= giveUpAtMs) throw new CommandError(error.message, EXIT.unavailable);
    }
    await sleep(IN_USE_PAUSE_MS);
  }
}

/** Throws a CommandError if the data directory does not exist. */
export function assertDataDirectory({ data: { dir } }: Config): void {
  const folder = resolve(dir);
  if (existsSync(folder)) return;
  throw new CommandError(
    `There is no data directory ${folder}. Run the command in the folder that the service is started in, or set GANNET_DATA_DIR.`,
    EXIT.unavailable,
  );
}

/** Runs `work` with a client, and closes the client in any case. */
export async function withService<Result>(
  config: Config,
  load: ServiceLoader,
  work: (client: ServiceClient) => Promise<Result>,
): Promise<Result> {
  const client = await connectService(config, load);
  try {
    return await work(client);
  } catch (error) {
    const { toldOfOtherRelease } = await import('./other-release.js');
    throw await toldOfOtherRelease(client, error);
  } finally {
    await client.close();
  }
}
