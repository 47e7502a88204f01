/**
 * Entry of the thread that measures how much a folder holds. Doing this file by file on the main thread would cost five
 * times as much, in hundreds of thousands of turns of the event loop.
 */
import { lstatSync, readdirSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { DiskUseProtocol } from './disk-use-protocol.js';
import { serveHost } from './hosts/serve-host.js';

const BLOCK_BYTES = 512;

/** Identities of the files with several hard links that were counted. */
type Seen = Set<string>;

/**
 * Returns the space that a file, or everything below a folder, takes. Entries that vanish meanwhile count as 0. Rejects
 * with the signal's reason between two folders.
 */
async function bytesOf(path: string, seen: Seen, signal: AbortSignal): Promise<number> {
  const found = statOf(path);
  if (found === undefined) return 0;
  if (!found.isDirectory()) return isAnother(found, seen) ? found.blocks * BLOCK_BYTES : 0;
  // Lets the message arrive that cancels this.
  await setImmediate();
  signal.throwIfAborted();
  let bytes = found.blocks * BLOCK_BYTES;
  for (const name of namesIn(path)) bytes += await bytesOf(join(path, name), seen, signal);
  return bytes;
}

function isAnother({ nlink, dev, ino }: Stats, seen: Seen): boolean {
  if (nlink === 1) return true;
  const name = `${dev}/${ino}`;
  if (seen.has(name)) return false;
  seen.add(name);
  return true;
}

function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch {
    return undefined;
  }
}

function namesIn(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

serveHost<DiskUseProtocol>(() => ({
  answers: {
    look: async (folder, { signal }) => {
      const seen: Seen = new Set();
      const entries: { name: string; bytes: number }[] = [];
      for (const name of namesIn(folder))
        entries.push({ name, bytes: await bytesOf(join(folder, name), seen, signal) });
      return entries;
    },
  },
  notices: {},
  close: () => undefined,
}));
