/**
 * Sitemaps (https://www.sitemaps.org/protocol.html): XML with addresses of pages or of further sitemaps, or plain text
 * with an address per line, either of them possibly gzipped. They are read in pieces, so that a large one is never held
 * in memory.
 */
import { createGunzip } from 'node:zlib';
import { pipeline, Readable } from 'node:stream';
import { Parser } from 'htmlparser2';
import { OPEN_ELEMENTS_MAX, writeBounded } from '../text/bounded-parsing.js';
import { readDate } from '../text/dates.js';

/** Limits of the protocol for one file. */
export const SITEMAP_BYTES_MAX = 52_428_800;
export const SITEMAP_ENTRIES_MAX = 50_000;
const LOCATION_CHARACTERS_MAX = 2048;
/** Number of characters that suffice to tell an address from XML. */
const BEGINNING_CHARACTERS = 8;

export interface SitemapEntry {
  readonly kind: 'page' | 'sitemap';
  /** Text as it is in the file. It may not be an address at all. */
  readonly location: string;
  /** ISO 8601, in UTC. */
  readonly modified: string | undefined;
}

export type SitemapOutcome =
  | 'whole'
  /** The sitemap or its compressed data breaks off. */
  | 'cut-off'
  /** It has more bytes or entries than the protocol allows, or elements nested deeper than in any sitemap. */
  | 'too-large'
  | 'not-a-sitemap';

export interface SitemapReading {
  readonly entries: readonly SitemapEntry[];
  readonly outcome: SitemapOutcome;
}

/**
 * Reads a sitemap. Resolves whatever the bytes are, and keeps the entries before a fault. Errors of `source` itself are
 * passed on.
 */
export async function readSitemap(source: AsyncIterable<Uint8Array>, nowMs: number): Promise<SitemapReading> {
  const reader = new SitemapReader(nowMs);
  const decoder = new TextDecoder();
  let failure: { readonly error: unknown } | undefined;
  // Errors of the source are told apart from errors in the compressed data, which are the sitemap's fault.
  const watched = watchedSource(source, (error) => {
    failure = { error };
  });
  let bytes = 0;
  try {
    for await (const chunk of unpacked(watched)) {
      bytes += chunk.length;
      if (bytes > SITEMAP_BYTES_MAX || reader.isOverfull) return reader.ended('too-large');
      reader.write(decoder.decode(chunk, { stream: true }));
    }
  } catch {
    if (failure !== undefined) throw failure.error;
    return reader.ended('cut-off');
  }
  reader.write(decoder.decode());
  return reader.ended(reader.isOverfull ? 'too-large' : 'whole');
}

async function* watchedSource(
  source: AsyncIterable<Uint8Array>,
  onError: (error: unknown) => void,
): AsyncGenerator<Uint8Array> {
  try {
    yield* source;
  } catch (error) {
    onError(error);
    throw error;
  }
}

/**
 * Decompresses gzip, which is recognized by its first bytes because servers send it with all kinds of content types.
 */
async function* unpacked(source: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  const head: Uint8Array[] = [];
  let length = 0;
  while (length < 2) {
    const next = await source.next();
    if (next.done === true) break;
    head.push(next.value);
    length += next.value.length;
  }
  const first = Buffer.concat(head);
  async function* all(): AsyncGenerator<Uint8Array> {
    if (first.length > 0) yield first;
    yield* source;
  }
  if (first[0] !== 0x1f || first[1] !== 0x8b) {
    yield* all();
    return;
  }
  const gunzip = createGunzip();
  // Errors reach whoever reads from `gunzip`.
  pipeline(Readable.from(all(), { objectMode: false }), gunzip, () => undefined);
  for await (const chunk of gunzip as AsyncIterable<Buffer>) yield chunk;
}

class SitemapReader {
  private readonly entries: SitemapEntry[] = [];
  private readonly parser: Parser;
  /** True if something exceeded a limit. */
  isOverfull = false;
  private kind: 'urlset' | 'sitemapindex' | 'text' | undefined;
  private isClosed = false;
  private openElements = 0;
  private element = '';
  private location = '';
  private modified = '';
  private rest = '';
  private isStarted = false;
  private beginning = '';

  constructor(private readonly nowMs: number) {
    this.parser = new Parser(
      {
        onopentag: (name) => {
          this.open(localName(name));
        },
        ontext: (text) => {
          this.hear(text);
        },
        onclosetag: (name, isImplied) => {
          this.close(localName(name), isImplied);
        },
      },
      { xmlMode: true, lowerCaseTags: true },
    );
  }

  write(text: string): void {
    if (this.isStarted) {
      this.take(text);
      return;
    }
    this.beginning = (this.beginning + text).replace(/^[\s\ufeff]+/, '');
    if (this.beginning.length >= BEGINNING_CHARACTERS) this.start();
  }

  private start(): void {
    this.isStarted = true;
    if (/^https?:\/\//i.test(this.beginning)) this.kind = 'text';
    this.take(this.beginning);
  }

  private take(text: string): void {
    if (this.kind === 'text') this.readLines(text);
    else writeBounded(this.parser, text, () => this.isOverfull);
  }

  ended(outcome: 'whole' | 'cut-off' | 'too-large'): SitemapReading {
    if (!this.isStarted) this.start();
    if (this.kind === 'text') {
      if (outcome === 'whole') this.readLines('\n');
      return { entries: this.entries, outcome };
    }
    this.parser.end();
    if (this.kind === undefined) return { entries: [], outcome: outcome === 'whole' ? 'not-a-sitemap' : outcome };
    return { entries: this.entries, outcome: outcome === 'whole' && !this.isClosed ? 'cut-off' : outcome };
  }

  private readLines(text: string): void {
    const lines = (this.rest + text).split(/\r\n|\r|\n/);
    this.rest = (lines.pop() ?? '').slice(0, LOCATION_CHARACTERS_MAX + 1);
    for (const line of lines) this.add('page', line, '');
  }

  private open(name: string): void {
    this.openElements += 1;
    if (this.openElements > OPEN_ELEMENTS_MAX) this.isOverfull = true;
    if (this.kind === undefined && (name === 'urlset' || name === 'sitemapindex')) this.kind = name;
    if (name === 'url' || name === 'sitemap') {
      this.location = '';
      this.modified = '';
    }
    this.element = name;
  }

  private hear(text: string): void {
    // `image:loc` and `video:thumbnail_loc` are not the address of the entry.
    if (this.element === 'loc' && this.location.length <= LOCATION_CHARACTERS_MAX) this.location += text;
    if (this.element === 'lastmod' && this.modified.length < 100) this.modified += text;
  }

  private close(name: string, isImplied: boolean): void {
    this.openElements -= 1;
    this.element = '';
    if (isImplied) return;
    if (name === this.kind) this.isClosed = true;
    if (name === 'url' && this.kind === 'urlset') this.add('page', this.location, this.modified);
    if (name === 'sitemap' && this.kind === 'sitemapindex') this.add('sitemap', this.location, this.modified);
  }

  private add(kind: SitemapEntry['kind'], text: string, modified: string): void {
    const location = text.replace(/^\ufeff/, '').trim();
    if (location === '' || location.length > LOCATION_CHARACTERS_MAX) return;
    if (this.entries.length >= SITEMAP_ENTRIES_MAX) this.isOverfull = true;
    else this.entries.push({ kind, location, modified: readDate(modified.trim(), this.nowMs) });
  }
}

/** Removes the prefix of the sitemap's own namespace, which some sitemaps use. Other prefixes are kept. */
function localName(name: string): string {
  return name.replace(/^(?:sm|sitemap|s|ns\d*):/, '');
}
