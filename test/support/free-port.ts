/**
 * A port of loopback for servers that are not told theirs: free now, and below those that the system gives to whoever asks for any, or
 * connects. Nothing but a server that has its port from here, too, takes it in the meantime, and those draw by lot.
 */
import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';

const FIRST = 10_000;
/** Where the system does not say where those begin that it gives away: the first of most. */
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
