/** Addresses that are still to be read, in the order in which they were found, each once. */
import { DigestSet, digestsOf } from '../urls/address-digests.js';
import type { FoundBy } from './crawl-types.js';

/** Beyond, links are not remembered, and the listing is not complete. */
const KNOWN_MAX = 500_000;

export interface FrontierEntry {
  readonly url: string;
  readonly depth: number;
  readonly found: FoundBy;
}

export class Frontier {
  private readonly known = new DigestSet();
  /** By host; emptied ones are taken out. */
  private readonly lines = new Map<string, { entries: FrontierEntry[]; next: number }>();
  private waiting = 0;
  /** Something was found for which there was no room. */
  isOverfull = false;

  get size(): number {
    return this.waiting;
  }

  /** False: it was known already. */
  add(entry: FrontierEntry, { host } = new URL(entry.url)): boolean {
    if (!this.see(entry.url)) return false;
    const line = this.lines.get(host) ?? { entries: [], next: 0 };
    line.entries.push(entry);
    this.lines.set(host, line);
    this.waiting += 1;
    return true;
  }

  /** The address is not to be read again; false where it was known. */
  see(url: string): boolean {
    const digest = digestsOf([url]);
    if (this.known.has(digest, 0)) return false;
    if (this.known.size >= KNOWN_MAX) {
      this.isOverfull = true;
      return false;
    }
    return this.known.add(digest, 0);
  }

  /** Of the address whose digest stands at `position`. */
  isKnown(digests: Uint32Array, position: number): boolean {
    return this.known.has(digests, position);
  }

  /** The next address at the first host that `isFree`, with that host. */
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
