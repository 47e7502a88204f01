/**
 * Finds a free loopback port for servers that cannot choose one. It is below the system's ephemeral ports, so that only
 * other users of this file could take it in the meantime, and these choose at random.
 */
import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';

const FIRST = 10_000;
/** Beginning of the ephemeral ports on most systems, if this one does not state it. */
const GIVEN_AWAY_FROM = 32_768;
const TRIES_MAX = 100;

function lastOfOurs(): number {
  try {
    const from = Number(readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').split(/\s/)[0]);
    return from > FIRST + 1000 ? from : GIVEN_AWAY_FROM;
  } catch {
    return GIVEN_AWAY_FROM;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

export async function freePort(): Promise<number> {
  for (let tries = 0; tries < TRIES_MAX; ++tries) {
    const port = randomInt(FIRST, lastOfOurs());
    if (await isFree(port)) return port;
  }
  throw new Error(`None of ${TRIES_MAX} ports of loopback can be listened on`);
}
