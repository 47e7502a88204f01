/** Where the control socket of a data directory is: the service listens there, the command line calls there. */
import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/** What the address of a Unix socket holds on every system (macOS: 104 bytes with the terminating zero). */
const SOCKET_PATH_BYTES_MAX = 103;

/** `control.sock` in the data directory, or where that path is too long, a name of its own in the system's folder. */
export function controlSocketPath(dataDir: string): string {
  const folder = resolve(dataDir);
  const path = join(folder, 'control.sock');
  if (Buffer.byteLength(path) <= SOCKET_PATH_BYTES_MAX) return path;
  const digest = createHash('sha256').update(folder).digest('hex').slice(0, 24);
  return join(tmpdir(), `gannet-${digest}.sock`);
}
