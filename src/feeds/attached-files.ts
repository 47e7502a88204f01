/**
 * Files that belong to the records of a feed, in its media store below `feeds/<name>/`: exactly those that the feed's
 * file names.
 */
import { createReadStream } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { listedPages, type MediaStore } from '../media/index.js';
import { ATTACHED_FOLDER, attachedPrefix } from './worker/attached-files.js';
import { LOCAL_FILE } from './worker/feed-protocol.js';

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  pdf: 'application/pdf',
  jpeg: 'image/jpeg',
  png: 'image/png',
};

export class AttachedFiles {
  private readonly prefix: string;

  constructor(
    private readonly folder: string,
    private readonly media: MediaStore,
    feed: string,
  ) {
    this.prefix = attachedPrefix(feed);
  }

  /** Stores the files that the run has left. If that fails, rejects, and the rest is stored by the next run. */
  async store(): Promise<void> {
    const attached = join(this.folder, ATTACHED_FOLDER);
    const names = await readdir(attached).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    });
    for (const name of names) {
      const from = join(attached, name);
      const path = this.prefix + name;
      // Names are derived from the content, so an existing file is the same.
      if (!name.endsWith('.part') && (await this.media.stat(path)) === undefined) await this.put(from, path);
      await rm(from);
    }
  }

  /** Removes files that no record names any more. */
  async removeUnnamed(): Promise<void> {
    const named = new Set<string>();
    const mention = new RegExp(`"media:[^"/]+/(${this.prefix}[^"]+)"`, 'g');
    const lines = createInterface({ input: createReadStream(join(this.folder, LOCAL_FILE)), crlfDelay: Infinity });
    for await (const line of lines) for (const [, path = ''] of line.matchAll(mention)) named.add(path);
    await this.removeAll((path) => !named.has(path));
  }

  async removeAll(isUnwanted: (path: string) => boolean = () => true): Promise<void> {
    for await (const files of listedPages(this.media, { prefix: this.prefix }))
      for (const { path } of files) if (isUnwanted(path)) await this.media.remove(path, () => undefined);
  }

  private async put(from: string, path: string): Promise<void> {
    const ending = path.slice(path.lastIndexOf('.') + 1);
    const { size } = await stat(from);
    await this.media.put({
      path,
      contentType: CONTENT_TYPES[ending] ?? 'application/octet-stream',
      bytes: size,
      body: createReadStream(from) as AsyncIterable<Uint8Array>,
      check: () => undefined,
      isConditional: false,
    });
  }
}
