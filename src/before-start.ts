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
