/**
 * The pages of documents, one row each, in the database `page-rows` of a list's store: key of the file and page (u32,
 * big-endian) → page-row-codec. Thread-safety: as that of the store.
 */
import type { Database } from 'lmdb';
import type { RecordStore } from '../records/index.js';
import type { ReadPage } from './file-reader.js';
import type { PageRange } from './page-codec.js';
import { readPageRow, textOfPage, type StoredPage } from './page-row-codec.js';

const DATABASE = 'page-rows';
const PAGE_BYTES = 4;
const KEY_BYTES_MAX = 64;

/** `latin1Write` is what Buffer.write calls in the end, without its checks. */
type FastBuffer = Buffer & { latin1Write(text: string, offset: number, length: number): number };

type StoreOfRows = Pick<RecordStore, 'environment' | 'hasDatabase' | 'recordWords'>;

export class PageRows {
  private openedDb: Database<Buffer, Buffer> | undefined;
  /** Shared by all calls, because LMDB copies keys before it returns. */
  private readonly rowKey = Buffer.alloc(KEY_BYTES_MAX) as FastBuffer;

  constructor(private readonly store: StoreOfRows) {}

  /** Creates the database if it is missing, which is a transaction: must not happen inside another one. */
  get database(): Database<Buffer, Buffer> {
    return (this.openedDb ??= this.store.environment.database<Buffer, Buffer>(DATABASE, {
      encoding: 'binary',
      keyEncoding: 'binary',
    }));
  }

  /** Undefined if there are no rows, as in lists of an older format, so that reading does not create the database. */
  private get known(): Database<Buffer, Buffer> | undefined {
    return this.openedDb ?? (this.store.hasDatabase(DATABASE) ? this.database : undefined);
  }

  /** Returns a page, valid until the next read of the store; undefined if there is no such row. */
  page(key: string, page: number): StoredPage | undefined {
    const bytes = this.known?.getBinaryFast(this.keyOf(key, page));
    if (bytes === undefined) return undefined;
    // The buffer that lmdb-js reads into is longer than its `length` property.
    const row = bytes.subarray(0, bytes.length);
    return readPageRow(this.store.recordWords.knowsPacking(row) ? row : Buffer.from(row), this.store.recordWords);
  }

  /** Yields consecutive pages from that one on. */
  *pages(key: string, first: number): Generator<StoredPage> {
    for (let page = first; ; page += 1) {
      const found = this.page(key, page);
      if (found === undefined) return;
      yield found;
    }
  }

  /**
   * Yields texts in the order of keys. These are hashes, so the first texts are a sample of all. Skips unreadable
   * pages.
   */
  *texts(): Generator<string> {
    for (const { value } of this.known?.getRange() ?? []) {
      const text = readable(readPageRow(Buffer.from(value), this.store.recordWords));
      if (text !== undefined) yield text;
    }
  }

  /** Yields pages that cannot be read. */
  *damaged(): Generator<{ readonly key: string; readonly page: number }> {
    for (const { key, value } of this.known?.getRange() ?? []) {
      if (readable(readPageRow(Buffer.from(value), this.store.recordWords)) !== undefined) continue;
      const at = key.length - PAGE_BYTES;
      yield { key: key.toString('latin1', 0, at), page: key.readUInt32BE(at) };
    }
  }

  /** Number of all pages, without reading them. */
  count(): number {
    return (this.known?.getStats() as { readonly entryCount: number } | undefined)?.entryCount ?? 0;
  }

  /** Returns the rows of a file as stored. */
  stored(key: string): Buffer[] {
    const rows: Buffer[] = [];
    for (let page = 1; ; page += 1) {
      const row = this.known?.getBinary(this.keyOf(key, page));
      if (row === undefined) return rows;
      rows.push(row);
    }
  }

  // ---- inside a transaction

  /** Replaces the rows of a file. */
  put(key: string, rows: readonly Uint8Array[]): void {
    for (const [index, row] of rows.entries()) void this.database.putSync(this.keyOf(key, index + 1), row as Buffer);
    this.removeFrom(key, rows.length + 1);
  }

  remove(key: string): void {
    this.removeFrom(key, 1);
  }

  private removeFrom(key: string, first: number): void {
    for (let page = first; this.database.removeSync(this.keyOf(key, page)); page += 1);
  }

  /** Valid until the next call. */
  private keyOf(key: string, page: number): Buffer {
    const { rowKey } = this;
    const length = rowKey.latin1Write(key, 0, key.length);
    rowKey.writeUInt32BE(page, length);
    return rowKey.subarray(0, length + PAGE_BYTES);
  }
}

/**
 * Reads stored pages. Throws if one cannot be read. With `tellDamaged` it reports such a page instead, which then has
 * an empty text. `first`: number of the first page.
 */
export function readPages(
  stored: Iterable<StoredPage>,
  { first, max }: Required<PageRange>,
  tellDamaged?: (page: number) => void,
): ReadPage[] {
  const pages: ReadPage[] = [];
  if (max <= 0) return pages;
  for (const each of stored) {
    const page = first + pages.length;
    const text = tellDamaged === undefined ? textOfPage(each) : readable(each);
    if (text === undefined) tellDamaged?.(page);
    pages.push({ page, text: text ?? '' });
    if (pages.length >= max) break;
  }
  return pages;
}

function readable(page: StoredPage): string | undefined {
  try {
    return textOfPage(page);
  } catch {
    return undefined;
  }
}
