/** Where a page leads. Those of a page that has not changed are mostly known, which their digests tell: their texts are not read then. */
import { digestsOf } from '../urls/address-digests.js';

export class PageLinks {
  private constructor(
    readonly digests: Uint32Array,
    private read: () => readonly string[],
  ) {}

  static of(urls: readonly string[]): PageLinks {
    return new PageLinks(digestsOf(urls), () => urls);
  }

  /** Of what was kept: `digests` as `kept` gave them. */
  static from(digests: string, read: () => readonly string[]): PageLinks {
    const bytes = Buffer.from(digests, 'base64');
    const aligned = new Uint32Array(bytes.length >> 2);
    Buffer.from(aligned.buffer).set(bytes.subarray(0, aligned.byteLength));
    return new PageLinks(aligned, read);
  }

  get count(): number {
    return this.digests.length / 2;
  }

  /** As `pageUrl` gives them; in the order of the digests. */
  get urls(): readonly string[] {
    const urls = this.read();
    this.read = () => urls;
    return urls;
  }

  /** The digests as text. */
  kept(): string {
    const { buffer, byteOffset, byteLength } = this.digests;
    return Buffer.from(buffer, byteOffset, byteLength).toString('base64');
  }
}
