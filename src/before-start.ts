/** Checks and warnings of a start that come before anything is created on disk. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { memoryWarnings, type Config, type ServiceLogger } from './platform/index.js';

interface Listening {
  readonly assertCanListen: (host: string, port: number) => Promise<void>;
  /** Throws if no web server of this kind is available to carry HTTP. */
  readonly assertCanCarry: (kind: Config['server']['web_server']) => void;
}

/**
 * Checks, before a first start creates any data, that the service will be able to listen: throws otherwise. Does
 * nothing if the data directory already has a catalogue: such a start opens its data first, since another service may
 * hold them.
 */
export async function assertPlaceForFirstStart(
  { data, server }: Config,
  load: () => Promise<Listening>,
): Promise<void> {
  if (existsSync(join(data.dir, 'system'))) return;
  const { assertCanCarry, assertCanListen } = await load();
  assertCanCarry(server.web_server);
  await assertCanListen(server.host, server.port);
}

export function warnOfMemory(config: Config, log: Pick<ServiceLogger, 'warn'>): void {
  for (const { message, ...figures } of memoryWarnings(config)) log.warn(figures, message);
}

const PROXY_VARIABLE = /^(?:https?|all)_proxy$/i;

/**
 * Logs the proxy variables that are set, since the service ignores them: addresses of outbound calls are checked on the
 * connection itself, and with a proxy the other end of the connection would be the proxy (docs/decisions/0091).
 */
export function tellOfProxies(
  env: Readonly<Record<string, string | undefined>>,
  log: Pick<ServiceLogger, 'info'>,
): void {
  for (const name of Object.keys(env).filter((each) => PROXY_VARIABLE.test(each) && env[each] !== ''))
    log.info({ name }, 'Ignoring this variable: feeds, webhooks, models and buckets are called without a proxy');
}
