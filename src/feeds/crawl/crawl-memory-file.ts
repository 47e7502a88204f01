/**
 * What a crawl remembers, in a file with one entry per line, found by its position, so that memory only holds
 * addresses. A run writes the next file while it reads the last one; `commit` replaces it atomically. Belongs to one
 * thread.
 *
 * The links of a page follow a tab, which JSON strings do not contain. Before the tab are their digests; the links
 * themselves are only read if one of them is not known yet.
 *
 * What cannot be read is not remembered, and is read again from the site: nothing is lost with this file.
 */
import { closeSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs';
import { readFullySync, writeFullySync } from '../../platform/index.js';
import type { CrawlMemory, FileMemory, PageMemory } from './crawl-types.js';
import { PageLinks } from './page-links.js';

const FORMAT = 2;
const HEADER = JSON.stringify({ gannet: 'crawl', format: FORMAT });
const PIECE_BYTES = 1_048_576;
const BUFFER_BYTES = 262_144;
/** A crawl asks for pages in about the order in which they were stored. */
const WINDOW_BYTES = 262_144;
const WINDOW_BEFORE_BYTES = 32_768;
const LINE_END = 0x0a;
const TAB = 0x09;
const QUOTE = 0x22;
const LINE_STARTS: Readonly<Record<Kind, string>> = { page: '["page","', file: '["file","' };
const START_BYTES = 9;

type Kind = 'page' | 'file';

interface Place {
  readonly offset: number;
  readonly bytes: number;
}

/** A remembered page without the texts of its links. */
type PageHead = Omit<PageMemory, 'links'> & { readonly digests: string };

export class CrawlMemoryFile implements CrawlMemory {
  private readonly last: LinesFile | undefined;
  private readonly nextPath: string;
  private readonly next: number;
  private buffered: Buffer[] = [];
  private bufferedBytes = 0;
  private isOpen = true;

  /** `isFresh`: ignores what is remembered. */
  constructor(
    private readonly path: string,
    { isFresh }: { readonly isFresh: boolean },
  ) {
    this.last = isFresh ? undefined : LinesFile.open(path);
    this.nextPath = `${path}.next`;
    this.next = openSync(this.nextPath, 'w', 0o600);
    this.write(HEADER);
  }

  page(url: string): PageMemory | undefined {
    const line = this.last?.line('page', url);
    return line === undefined ? undefined : pageOf(line);
  }

  keepPage(url: string, page: PageMemory): void {
    if (page instanceof ReadPage) {
      this.writeBytes(page.line);
      return;
    }
    const { links, ...head } = page;
    const kept: PageHead = { ...head, digests: links.kept() };
    this.write(`${JSON.stringify(['page', url, kept]).slice(0, -1)},\t${JSON.stringify(links.urls)}]`);
  }

  file(url: string): FileMemory | undefined {
    const line = this.last?.line('file', url);
    return line === undefined ? undefined : (contentOf(line.toString()) as FileMemory | undefined);
  }

  keepFile(url: string, file: FileMemory): void {
    this.write(JSON.stringify(['file', url, file]));
  }

  /**
   * Makes what was kept since the memory of the next run. Throws if the disk cannot take it; the last file stays in
   * place then.
   */
  commit(): void {
    this.flush();
    fsyncSync(this.next);
    this.close();
    renameSync(this.nextPath, this.path);
  }

  /** Discards what was kept; does nothing after a commit. */
  discard(): void {
    if (!this.isOpen) return;
    this.close();
    rmSync(this.nextPath, { force: true });
  }

  private close(): void {
    this.isOpen = false;
    closeSync(this.next);
    this.last?.close();
  }

  private write(line: string): void {
    this.writeBytes(Buffer.from(`${line}\n`));
  }

  private writeBytes(bytes: Buffer): void {
    this.buffered.push(bytes);
    this.bufferedBytes += bytes.length;
    if (this.bufferedBytes >= BUFFER_BYTES) this.flush();
  }

  private flush(): void {
    writeFullySync(this.next, Buffer.concat(this.buffered), null);
    this.buffered = [];
    this.bufferedBytes = 0;
  }
}

/** A page as read from the file. When it is kept unchanged, its line is copied. */
class ReadPage implements PageMemory {
  readonly names: readonly string[];
  readonly contentHash: string;
  declare readonly etag?: string;
  declare readonly lastModified?: string;
  declare readonly cutOffHash?: string;

  readonly #line: Buffer;

  constructor(
    line: Buffer,
    { names, contentHash, etag, lastModified, cutOffHash }: PageHead,
    readonly links: PageLinks,
  ) {
    this.#line = line;
    this.names = names;
    this.contentHash = contentHash;
    if (etag !== undefined) this.etag = etag;
    if (lastModified !== undefined) this.lastModified = lastModified;
    if (cutOffHash !== undefined) this.cutOffHash = cutOffHash;
  }

  /** The line, including its line end. */
  get line(): Buffer {
    return this.#line;
  }
}

class LinesFile {
  private readonly places: Readonly<Record<Kind, Map<string, Place>>> = { page: new Map(), file: new Map() };
  private window: Buffer = Buffer.alloc(0);
  private windowOffset = 0;

  private constructor(private readonly file: number) {}

  /** Returns undefined if there is no readable file. */
  static open(path: string): LinesFile | undefined {
    let file: number;
    try {
      file = openSync(path, 'r');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
    const lines = new LinesFile(file);
    if (lines.index()) return lines;
    lines.close();
    return undefined;
  }

  /** Returns the line, including its line end. */
  line(kind: Kind, url: string): Buffer | undefined {
    const place = this.places[kind].get(url);
    if (place === undefined) return undefined;
    const { offset, bytes } = place;
    if (offset < this.windowOffset || offset + bytes > this.windowOffset + this.window.length) this.move(offset, bytes);
    const start = offset - this.windowOffset;
    return this.window.subarray(start, start + bytes);
  }

  close(): void {
    closeSync(this.file);
  }

  /** Reads another window into a new buffer, since lines of the previous one may be in use. */
  private move(offset: number, bytes: number): void {
    const start = Math.max(0, offset - WINDOW_BEFORE_BYTES);
    const window = Buffer.allocUnsafe(Math.max(WINDOW_BYTES, offset - start + bytes));
    this.window = window.subarray(0, readFullySync(this.file, window, start));
    this.windowOffset = start;
  }

  /** Indexes all lines. Returns false if the file has another format. Skips lines that cannot be read. */
  private index(): boolean {
    const piece = Buffer.allocUnsafe(PIECE_BYTES);
    let rest: Buffer = Buffer.alloc(0);
    let offset = 0;
    let isFirst = true;
    for (let position = 0, count = -1; count !== 0; position += count) {
      count = readFullySync(this.file, piece, position);
      const bytes = Buffer.concat([rest, piece.subarray(0, count)]);
      let start = 0;
      for (let end = bytes.indexOf(LINE_END); end !== -1; end = bytes.indexOf(LINE_END, start)) {
        if (isFirst && bytes.toString('utf8', start, end) !== HEADER) return false;
        if (!isFirst) this.found(bytes, { start, end, offset });
        isFirst = false;
        start = end + 1;
      }
      offset += start;
      rest = bytes.subarray(start);
    }
    return !isFirst;
  }

  /** Indexes the line from `start` to `end`. Only its address is parsed; the rest is parsed when it is needed. */
  private found(bytes: Buffer, { start, end, offset }: { start: number; end: number; offset: number }): void {
    const begin = bytes.toString('latin1', start, Math.min(start + START_BYTES, end));
    const kind = begin === LINE_STARTS.page ? 'page' : begin === LINE_STARTS.file ? 'file' : undefined;
    const close = bytes.indexOf(QUOTE, start + START_BYTES);
    if (kind === undefined || close === -1 || close > end) return;
    const url = bytes.toString('utf8', start + START_BYTES, close);
    if (!url.includes('\\')) this.places[kind].set(url, { offset: offset + start, bytes: end + 1 - start });
  }
}

function pageOf(line: Buffer): ReadPage | undefined {
  const tab = line.indexOf(TAB);
  if (tab === -1) return undefined;
  // Without the comma before the tab.
  const head: Partial<PageHead> | undefined = contentOf(`${line.toString('utf8', 0, tab - 1)}]`);
  if (typeof head?.digests !== 'string' || !Array.isArray(head.names) || typeof head.contentHash !== 'string')
    return undefined;
  const links = PageLinks.from(head.digests, () => linksOf(line.toString('utf8', tab + 1)));
  return new ReadPage(line, head as PageHead, links);
}

function contentOf(line: string): object | undefined {
  try {
    const [, , content] = JSON.parse(line) as readonly unknown[];
    return typeof content === 'object' && content !== null ? content : undefined;
  } catch {
    return undefined;
  }
}

/** Returns no links if they cannot be read; the caller notices that some are missing. */
function linksOf(text: string): readonly string[] {
  try {
    return JSON.parse(text.slice(0, text.lastIndexOf(']'))) as readonly string[];
  } catch {
    return [];
  }
}
