/** What a start looks at and tells before it makes anything. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { memoryWarnings, type Config, type ServiceLogger } from './platform/index.js';

interface Listening {
  readonly assertCanListen: (host: string, port: number) => Promise<void>;
  /** Throws where nothing can carry HTTP. */
  readonly assertCanCarry: (kind: Config['server']['web_server']) => void;
}

/** Nothing is made where the service could not listen then. A later start asks for its data first, which another service may have. */
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

/** Whom a service calls is checked on the connection itself, to which a proxy would be the other end (docs/decisions/0091). */
export function tellOfProxies(
  env: Readonly<Record<string, string | undefined>>,
  log: Pick<ServiceLogger, 'info'>,
): void {
  for (const name of Object.keys(env).filter((each) => PROXY_VARIABLE.test(each) && env[each] !== ''))
    log.info({ name }, 'This variable changes nothing: feeds, webhooks, models and buckets are called without a proxy');
}
