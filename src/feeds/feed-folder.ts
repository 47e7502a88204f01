/**
 * The folder of a feed, `data/feeds/<id>`: a copy of its file, and what is remembered of its source. It can be rebuilt.
 */
import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { listedPages, type MediaStore } from '../media/index.js';
import { assertDataThere, makeFolder } from '../platform/index.js';
import { readSyncFileNames, SyncFileDamagedError } from './file/sync-file.js';
import { LISTING_FILE, LOCAL_FILE, NEXT_FILE } from './worker/feed-protocol.js';

/** File with the ETag of the stored file of which this is a copy. */
const ETAG_FILE = 'file.etag';
const CONTENT_TYPE = 'application/x-ndjson';

export interface FolderListed {
  readonly prefix: string;
  /** Path of the feed's own file, if it is in that store. */
  readonly own: string | undefined;
  readonly signal: AbortSignal;
}

export class FeedFolder {
  /** `path`: below `feeds` of the data directory. */
  constructor(readonly path: string) {}

  /**
   * Updates the copy from the store. A stored file that is gone or incomplete is ignored: the copy stays that of the
   * last complete one. Creates no folder if the data directory is gone. Resolves with false if the store lacks what the
   * copy has, which `putBack` repairs.
   */
  async fetch(store: MediaStore, path: string, signal?: AbortSignal): Promise<boolean> {
    if (!existsSync(this.path)) await assertDataThere(dirname(dirname(this.path)));
    await makeFolder(this.path, 0o700);
    const known = await this.etag();
    const file = await store.stat(path);
    if (file !== undefined && file.etag === known) return true;
    const opened = file === undefined ? undefined : await store.open(path);
    if (opened === undefined) return known === undefined;
    const part = join(this.path, `${LOCAL_FILE}.part`);
    try {
      await pipeline(Readable.from(opened.pieces()), createWriteStream(part, { mode: 0o600 }), { signal });
    } finally {
      await opened.close();
    }
    if (known !== undefined && !(await isWhole(part))) return false;
    await this.adopt(part, opened.file.etag);
    return true;
  }

  /** Stores the copy, since the stored file is gone or incomplete. */
  async putBack(store: MediaStore, path: string): Promise<void> {
    const copy = join(this.path, LOCAL_FILE);
    await this.adopt(copy, await this.put(store, path, copy));
  }

  /** Stores the next file, atomically. If that fails, rejects, and the store keeps the previous one. */
  async store(store: MediaStore, path: string): Promise<void> {
    const next = join(this.path, NEXT_FILE);
    await this.adopt(next, await this.put(store, path, next));
  }

  /** Stores the copy, if there is one, in another store. */
  async copyTo(store: MediaStore, path: string): Promise<void> {
    const copy = join(this.path, LOCAL_FILE);
    if ((await this.etag()) === undefined) return;
    await this.put(store, path, copy);
  }

  /**
   * Writes a complete listing of a media store below a prefix, one file per line; without the feed's own file, which
   * would change with each run. Rejects if the store cannot be listed, or with the signal's reason.
   */
  async list(store: MediaStore, { prefix, own, signal }: FolderListed): Promise<void> {
    const lines = async function* () {
      for await (const page of listedPages(store, { prefix, signal })) {
        const files = page.filter(({ path }) => path !== own);
        yield files.map((file) => `${JSON.stringify(file)}\n`).join('');
      }
    };
    await pipeline(Readable.from(lines()), createWriteStream(join(this.path, LISTING_FILE), { mode: 0o600 }));
  }

  async remove(): Promise<void> {
    await rm(this.path, { recursive: true, force: true });
  }

  /** Resolves with the ETag of the stored file. */
  private async put(store: MediaStore, path: string, from: string): Promise<string> {
    const { size } = await stat(from);
    const { file } = await store.put({
      path,
      contentType: CONTENT_TYPE,
      bytes: size,
      body: createReadStream(from) as AsyncIterable<Uint8Array>,
      check: () => undefined,
      isConditional: false,
    });
    return file.etag;
  }

  private async etag(): Promise<string | undefined> {
    try {
      await stat(join(this.path, LOCAL_FILE));
      return await readFile(join(this.path, ETAG_FILE), 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  /** Removes the ETag first and writes it last: a copy without one is fetched again. */
  private async adopt(path: string, etag: string): Promise<void> {
    await rm(join(this.path, ETAG_FILE), { force: true });
    await rename(path, join(this.path, LOCAL_FILE));
    await writeFile(join(this.path, ETAG_FILE), etag, { mode: 0o600 });
  }
}

async function isWhole(path: string): Promise<boolean> {
  try {
    await readSyncFileNames(createReadStream(path) as AsyncIterable<Uint8Array>);
    return true;
  } catch (error) {
    if (error instanceof SyncFileDamagedError) return false;
    throw error;
  }
}

/** Removes the folders of feeds that no longer exist. */
export async function removeOtherFolders(
  feedsDir: string,
  ids: ReadonlySet<string>,
  isStopping: () => boolean,
): Promise<void> {
  const names = await readdir(feedsDir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  for (const name of names) {
    if (isStopping()) return;
    if (!ids.has(name)) await rm(join(feedsDir, name), { recursive: true, force: true });
  }
}
