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
const LINE_END = 0x0a;

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
    return this.last?.read('page', url) as PageMemory | undefined;
  }

  keepPage(url: string, page: PageMemory): void {
    this.keep('page', url, page);
  }

  file(url: string): FileMemory | undefined {
    return this.last?.read('file', url) as FileMemory | undefined;
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

  private keep(...line: Line): void {
    this.write(JSON.stringify(line));
  }

  private write(line: string): void {
    const bytes = Buffer.from(`${line}\n`);
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

  read(kind: Kind, url: string): unknown {
    const place = this.places[kind].get(url);
    if (place === undefined) return undefined;
    const bytes = Buffer.allocUnsafe(place.bytes);
    readSync(this.file, bytes, 0, place.bytes, place.offset);
    return parsedLine(bytes.toString())?.[2];
  }

  close(): void {
    closeSync(this.file);
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
        const line = bytes.toString('utf8', start, end);
        if (isFirst && line !== HEADER) return false;
        if (!isFirst) this.found(line, { offset: offset + start, bytes: end - start });
        isFirst = false;
        start = end + 1;
      }
      offset += start;
      rest = bytes.subarray(start);
    }
    return !isFirst;
  }

  private found(text: string, place: Place): void {
    const line = parsedLine(text);
    if (line !== undefined) this.places[line[0]].set(line[1], place);
  }
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
