/** The synced file while a run has it in hand: a copy in the feed's folder, and beside it the next one. */
import { createReadStream, createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { FeedFiles } from '../file/feed-files.js';
import { LOCAL_FILE, NEXT_FILE } from './feed-protocol.js';

/** With the default, a run that finds nothing new spends a tenth of its time on reading the file. */
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

  /** On disk when it resolves; the main thread puts it into the store. */
  async replace(_path: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    await pipeline(Readable.from(bytes), createWriteStream(join(this.folder, NEXT_FILE), { mode: 0o600, flush: true }));
  }
}
