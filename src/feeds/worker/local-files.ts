/** The synced file during a run: a copy in the feed's folder, and the new file beside it. */
import { createReadStream, createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { FeedFiles } from '../file/feed-files.js';
import { LOCAL_FILE, NEXT_FILE } from './feed-protocol.js';

/** With the default size, a run that finds nothing new would spend a tenth of its time on reading the file. */
const READ_BYTES = 262_144;

export class LocalFiles implements FeedFiles {
  constructor(private readonly folder: string) {}

  async read(): Promise<AsyncIterable<Uint8Array> | undefined> {
    const path = join(this.folder, LOCAL_FILE);
    try {
      await stat(path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
    return createReadStream(path, { highWaterMark: READ_BYTES }) as AsyncIterable<Uint8Array>;
  }

  /** Resolves when the new file is on disk. The main thread puts it into the store. */
  async replace(_path: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    await pipeline(Readable.from(bytes), createWriteStream(join(this.folder, NEXT_FILE), { mode: 0o600, flush: true }));
  }
}
