/** Checks whether an address can be listened on, before anything is created for the service that is to listen there. */
import { createServer } from 'node:net';
import { isSystemError, OperatorError } from '../platform/index.js';

/** The address cannot be listened on. The message is a sentence for the operator. */
export class ListenError extends OperatorError {
  override readonly name = 'ListenError';

  constructor(host: string, port: number) {
    super(
      `Cannot listen on ${host}:${port}: the port is in use or the address is not this machine's. The settings server.host and server.port (GANNET_HOST, GANNET_PORT) say others.`,
    );
  }
}

/** Other errors are reported when the service actually listens. */
const REFUSALS: ReadonlySet<string | undefined> = new Set(['EADDRINUSE', 'EADDRNOTAVAIL', 'EACCES']);

/** Rejects with a ListenError. `port` 0 stands for a free one, and is not checked. */
export async function assertCanListen(host: string, port: number): Promise<void> {
  if (port === 0) return;
  const server = createServer();
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ host, port, exclusive: true }, resolve);
    });
  } catch (error) {
    if (isSystemError(error) && REFUSALS.has(error.code)) throw new ListenError(host, port);
    return;
  }
  await new Promise((resolve) => server.close(resolve));
}
