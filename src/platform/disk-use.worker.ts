/**
 * The entry of the thread that looks at how much lies in a folder: a file at a time costs the thread that answers everybody five times as much, in hundreds of
 * thousands of turns.
 */
import { lstatSync, readdirSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { DiskUseProtocol } from './disk-use-protocol.js';
import { serveHost } from './hosts/serve-host.js';

const BLOCK_BYTES = 512;

/** Of files that have several names, those that were counted. */
type Seen = Set<string>;

/** Of a file, or of all that is below a folder, the room that it takes. What goes meanwhile is nothing. Rejects with the signal's reason between two folders. */
async function bytesOf(path: string, seen: Seen, signal: AbortSignal): Promise<number> {
  const found = statOf(path);
  if (found === undefined) return 0;
  if (!found.isDirectory()) return isAnother(found, seen) ? found.blocks * BLOCK_BYTES : 0;
  // It hears that it is not asked any more.
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
