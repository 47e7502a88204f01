/**
 * The links of a page. Those of an unchanged page are mostly known, which their digests tell without reading the texts.
 */
import { digestsOf } from '../urls/address-digests.js';

export class PageLinks {
  private constructor(
    readonly digests: Uint32Array,
    private read: () => readonly string[],
  ) {}

  static of(urls: readonly string[]): PageLinks {
    return new PageLinks(digestsOf(urls), () => urls);
  }

  /** Restores stored links: `digests` as returned by `kept`. */
  static from(digests: string, read: () => readonly string[]): PageLinks {
    const bytes = Buffer.from(digests, 'base64');
    const aligned = new Uint32Array(bytes.length >> 2);
    Buffer.from(aligned.buffer).set(bytes.subarray(0, aligned.byteLength));
    return new PageLinks(aligned, read);
  }

  get count(): number {
    return this.digests.length / 2;
  }

  /** The links as returned by `pageUrl`, in the order of the digests. */
  get urls(): readonly string[] {
    const urls = this.read();
    this.read = () => urls;
    return urls;
  }

  /** Returns the digests as text. */
  kept(): string {
    const { buffer, byteOffset, byteLength } = this.digests;
    return Buffer.from(buffer, byteOffset, byteLength).toString('base64');
  }
}
