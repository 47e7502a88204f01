/**
 * What a crawl remembers, in a file: an entry a line, found by its place, so that memory holds addresses alone. A run writes the next
 * file while it reads the last one; `commit` puts it in its place in one step. Belongs to one thread.
 *
 * What cannot be read is not remembered, and is read anew from its site: nothing is lost with this file.
 */
import { closeSync, fsyncSync, openSync, readSync, renameSync, rmSync, writeSync } from 'node:fs';
import type { CrawlMemory, FileMemory, PageMemory } from './crawl-types.js';

const FORMAT = 1;
const HEADER = JSON.stringify({ gannet: 'crawl', format: FORMAT });
const PIECE_BYTES = 1_048_576;
const BUFFER_BYTES = 262_144;
/** A crawl asks for its pages in about the order in which they were kept. */
const WINDOW_BYTES = 262_144;
const WINDOW_BEFORE_BYTES = 32_768;
const LINE_END = 0x0a;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LINE_STARTS: readonly (readonly [Kind, Buffer])[] = [
  ['page', Buffer.from('["page","')],
  ['file', Buffer.from('["file","')],
];

type Kind = 'page' | 'file';

interface Place {
  readonly offset: number;
  readonly bytes: number;
}

type Line = readonly [kind: Kind, url: string, content: PageMemory | FileMemory];

export class CrawlMemoryFile implements CrawlMemory {
  private readonly last: LinesFile | undefined;
  private readonly nextPath: string;
  private readonly next: number;
  private buffered: Buffer[] = [];
  private bufferedBytes = 0;
  private isOpen = true;
  /** The lines of what was read; kept again, it is copied. */
  private readonly lines = new WeakMap<object, Buffer>();

  /** `isFresh`: nothing is remembered. */
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
    return this.remembered('page', url) as PageMemory | undefined;
  }

  keepPage(url: string, page: PageMemory): void {
    this.keep('page', url, page);
  }

  file(url: string): FileMemory | undefined {
    return this.remembered('file', url) as FileMemory | undefined;
  }

  keepFile(url: string, file: FileMemory): void {
    this.keep('file', url, file);
  }

  /** What was kept since is what the next run remembers. Throws where the disk cannot take it; the last file is in place then. */
  commit(): void {
    this.flush();
    fsyncSync(this.next);
    this.close();
    renameSync(this.nextPath, this.path);
  }

  /** Without a commit, what was kept is gone. */
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

  private remembered(kind: Kind, url: string): object | undefined {
    const bytes = this.last?.line(kind, url);
    const content = bytes === undefined ? undefined : parsedLine(bytes.toString())?.[2];
    if (bytes !== undefined && content !== undefined) this.lines.set(content, bytes);
    return content;
  }

  private keep(...line: Line): void {
    const bytes = this.lines.get(line[2]);
    if (bytes === undefined) this.write(JSON.stringify(line));
    else this.writeBytes(bytes);
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
    const bytes = Buffer.concat(this.buffered);
    for (let written = 0; written < bytes.length;) written += writeSync(this.next, bytes, written);
    this.buffered = [];
    this.bufferedBytes = 0;
  }
}

class LinesFile {
  private readonly places: Readonly<Record<Kind, Map<string, Place>>> = { page: new Map(), file: new Map() };
  private window: Buffer = Buffer.alloc(0);
  private windowOffset = 0;

  private constructor(private readonly file: number) {}

  /** Undefined where there is none that can be read. */
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

  /** With its end. */
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

  /** Pieces of the window before are in use. */
  private move(offset: number, bytes: number): void {
    const start = Math.max(0, offset - WINDOW_BEFORE_BYTES);
    const window = Buffer.allocUnsafe(Math.max(WINDOW_BYTES, offset - start + bytes));
    this.window = window.subarray(0, readSync(this.file, window, 0, window.length, start));
    this.windowOffset = start;
  }

  /** False where it is not one of ours. A line that cannot be read is passed over. */
  private index(): boolean {
    const piece = Buffer.allocUnsafe(PIECE_BYTES);
    let rest: Buffer = Buffer.alloc(0);
    let offset = 0;
    let isFirst = true;
    for (let position = 0, count = -1; count !== 0; position += count) {
      count = readSync(this.file, piece, 0, PIECE_BYTES, position);
      const bytes = Buffer.concat([rest, piece.subarray(0, count)]);
      let start = 0;
      for (let end = bytes.indexOf(LINE_END); end !== -1; end = bytes.indexOf(LINE_END, start)) {
        const line = bytes.subarray(start, end + 1);
        if (isFirst && line.toString() !== `${HEADER}\n`) return false;
        if (!isFirst) this.found(line, offset + start);
        isFirst = false;
        start = end + 1;
      }
      offset += start;
      rest = bytes.subarray(start);
    }
    return !isFirst;
  }

  private found(line: Buffer, offset: number): void {
    const [kind, url] = addressOf(line) ?? [];
    if (kind !== undefined && url !== undefined) this.places[kind].set(url, { offset, bytes: line.length });
  }
}

/** Of what stands in the line only that: the rest is read where it is asked for. */
function addressOf(line: Buffer): readonly [Kind, string] | undefined {
  for (const [kind, start] of LINE_STARTS) {
    if (line.compare(start, 0, start.length, 0, start.length) !== 0) continue;
    const url = line.subarray(start.length, line.indexOf(QUOTE, start.length));
    return url.includes(BACKSLASH) ? undefined : [kind, url.toString()];
  }
  return undefined;
}

function parsedLine(text: string): Line | undefined {
  try {
    const line = JSON.parse(text) as Partial<Line>;
    const [kind, url, content] = Array.isArray(line) ? line : [];
    const isOurs = (kind === 'page' || kind === 'file') && typeof url === 'string' && typeof content === 'object';
    return isOurs ? [kind, url, content] : undefined;
  } catch {
    return undefined;
  }
}
