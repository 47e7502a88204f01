/** Addresses that are still to be read, in the order in which they were found, each once. */
import type { FoundBy } from './crawl-types.js';

/** Beyond, links are not remembered, and the listing is not complete. */
const KNOWN_MAX = 500_000;

export interface FrontierEntry {
  readonly url: string;
  readonly depth: number;
  readonly found: FoundBy;
}

export class Frontier {
  private readonly known = new Set<string>();
  /** By host; emptied ones are taken out. */
  private readonly lines = new Map<string, { entries: FrontierEntry[]; next: number }>();
  private waiting = 0;
  /** Something was found for which there was no room. */
  isOverfull = false;

  get size(): number {
    return this.waiting;
  }

  /** False: it was known already. */
  add(entry: FrontierEntry): boolean {
    if (!this.see(entry.url)) return false;
    const { host } = new URL(entry.url);
    const line = this.lines.get(host) ?? { entries: [], next: 0 };
    line.entries.push(entry);
    this.lines.set(host, line);
    this.waiting += 1;
    return true;
  }

  /** The address is not to be read again; false where it was known. */
  see(url: string): boolean {
    if (this.known.has(url)) return false;
    if (this.known.size >= KNOWN_MAX) {
      this.isOverfull = true;
      return false;
    }
    this.known.add(url);
    return true;
  }

  isKnown(url: string): boolean {
    return this.known.has(url);
  }

  /** The next address at the first host that `isFree`. */
  take(isFree: (host: string) => boolean): FrontierEntry | undefined {
    for (const [host, line] of this.lines) {
      if (!isFree(host)) continue;
      const entry = line.entries[line.next];
      line.next += 1;
      if (line.next >= line.entries.length) this.lines.delete(host);
      else if (line.next > 1000) {
        line.entries.splice(0, line.next);
        line.next = 0;
      }
      this.waiting -= entry === undefined ? 0 : 1;
      return entry;
    }
    return undefined;
  }

  hosts(): Iterable<string> {
    return this.lines.keys();
  }
}
