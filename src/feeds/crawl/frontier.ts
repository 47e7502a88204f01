/** The addresses still to be read, in the order in which they were found, each once. */
import { DigestSet, digestsOf } from '../urls/address-digests.js';
import type { FoundBy } from './crawl-types.js';

/** Beyond this number, links are dropped, and the crawl is not complete. */
const KNOWN_MAX = 500_000;

export interface FrontierEntry {
  readonly url: string;
  readonly depth: number;
  readonly found: FoundBy;
}

export class Frontier {
  private readonly known = new DigestSet();
  /** Entries by host; hosts without entries are removed. */
  private readonly lines = new Map<string, { entries: FrontierEntry[]; next: number }>();
  private waiting = 0;
  /** True if an address was dropped for lack of room. */
  isOverfull = false;

  get size(): number {
    return this.waiting;
  }

  /** Returns false if the address was known already. */
  add(entry: FrontierEntry, { host } = new URL(entry.url)): boolean {
    if (!this.see(entry.url)) return false;
    const line = this.lines.get(host) ?? { entries: [], next: 0 };
    line.entries.push(entry);
    this.lines.set(host, line);
    this.waiting += 1;
    return true;
  }

  /** Marks the address as not to be read again; returns false if it was known already. */
  see(url: string): boolean {
    const digest = digestsOf([url]);
    if (this.known.has(digest, 0)) return false;
    if (this.known.size >= KNOWN_MAX) {
      this.isOverfull = true;
      return false;
    }
    return this.known.add(digest, 0);
  }

  /** True if the address is known whose digest is at `position`. */
  isKnown(digests: Uint32Array, position: number): boolean {
    return this.known.has(digests, position);
  }

  /** Returns the next address at the first host for which `isFree` is true, and that host. */
  take(isFree: (host: string) => boolean): { readonly entry: FrontierEntry; readonly host: string } | undefined {
    for (const [host, line] of this.lines) {
      if (!isFree(host)) continue;
      const entry = line.entries[line.next];
      line.next += 1;
      if (line.next >= line.entries.length) this.lines.delete(host);
      else if (line.next > 1000) {
        line.entries.splice(0, line.next);
        line.next = 0;
      }
      if (entry === undefined) return undefined;
      this.waiting -= 1;
      return { entry, host };
    }
    return undefined;
  }

  hosts(): Iterable<string> {
    return this.lines.keys();
  }
}
