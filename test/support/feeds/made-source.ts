/** A source whose records a test defines, and a folder for the synced file. */
import { createReadStream, existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FeedFiles } from '../../../src/feeds/file/feed-files.js';
import { runSync, type FeedSource, type SyncRunOptions, type SyncRunResult } from '../../../src/feeds/file/sync-run.js';
import type { FieldValue, SourceListener, SourceOutcome } from '../../../src/feeds/source/source-run.js';

export class MadeFolder implements FeedFiles {
  readonly dir = mkdtempSync(join(tmpdir(), 'gannet-feed-'));
  replaced = 0;
  /** Bytes that fit into the folder. */
  room = Infinity;

  read(path: string): Promise<AsyncIterable<Uint8Array> | undefined> {
    const file = this.at(path);
    return Promise.resolve(existsSync(file) ? createReadStream(file) : undefined);
  }

  async replace(path: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    const pieces: Uint8Array[] = [];
    let size = 0;
    for await (const piece of bytes) {
      pieces.push(piece);
      size += piece.length;
      if (size > this.room) throw new Error('the store is full');
    }
    writeFileSync(`${this.at(path)}.new`, Buffer.concat(pieces));
    renameSync(`${this.at(path)}.new`, this.at(path));
    this.replaced += 1;
  }

  at(path: string): string {
    return join(this.dir, path.replaceAll('/', '_'));
  }

  text(path: string): string {
    return readFileSync(this.at(path), 'utf8');
  }

  remove(): void {
    rmSync(this.dir, { recursive: true, force: true });
  }
}

export class MadeSource implements FeedSource {
  readonly provider = 'made';
  asksForEach = true;
  /** Records of the source. */
  readonly records = new Map<string, Readonly<Record<string, FieldValue>>>();
  /** Records it reports as gone when asked. */
  readonly gone = new Set<string>();
  readonly freshness: boolean[] = [];
  readonly confirmed: string[][] = [];
  kept = 0;
  /** Replaces the normal output of `read`. */
  says: ((listener: SourceListener, isFresh: boolean) => Promise<void> | void) | undefined;
  isComplete = true;

  async read(listener: SourceListener, { isFresh }: { isFresh: boolean }): Promise<SourceOutcome> {
    this.freshness.push(isFresh);
    if (this.says === undefined) for (const [name, fields] of this.records) listener.record({ name, fields });
    else await this.says(listener, isFresh);
    return { isComplete: this.isComplete, requests: 1, bytes: 2 };
  }

  confirmGone(names: readonly string[]): Promise<ReadonlySet<string>> {
    this.confirmed.push([...names]);
    return Promise.resolve(new Set(names.filter((name) => this.gone.has(name))));
  }

  fields() {
    return { searchable_fields: [{ name: 'title', weight: 1 }], facets: [], resources: [] };
  }

  keep(): Promise<void> {
    this.kept += 1;
    return Promise.resolve();
  }
}

export const SYNC_PATH = 'feeds/birds.sync';

export function sync(
  files: MadeFolder,
  source: FeedSource,
  options: Partial<SyncRunOptions> = {},
): Promise<SyncRunResult> {
  const { dir: temporaryDir } = files;
  return runSync({
    feed: 'birds',
    path: SYNC_PATH,
    files,
    source,
    temporaryDir,
    isFresh: false,
    signal: new AbortController().signal,
    ...options,
  });
}
