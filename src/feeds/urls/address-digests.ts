/**
 * Digests of addresses, of 64 bits each, stored as two numbers of 32 bits. They tell which addresses have been met
 * without keeping their text. In a crawl of 500,000 addresses, the chance that two have the same digest is one in a
 * hundred million. Whoever makes such a pair on purpose only hides a page of their own site.
 */

const WORDS = 2;
/** Maximum share of the table that is used. The free places make a search for a missing digest end soon. */
const FULL = 0.6;

/** Returns the digests of the addresses one after another. */
export function digestsOf(addresses: readonly string[]): Uint32Array {
  const digests = new Uint32Array(addresses.length * WORDS);
  addresses.forEach((address, position) => {
    writeDigest(address, digests, position);
  });
  return digests;
}

/**
 * Computes two numbers. Each is multiplied by its own prime for every character, and both are mixed with each other at
 * the end.
 */
function writeDigest(address: string, into: Uint32Array, position: number): void {
  let high = 0x9e3779b9 ^ address.length;
  let low = 0x85ebca6b;
  for (let at = 0; at < address.length; at += 1) {
    const code = address.charCodeAt(at);
    high = Math.imul(high ^ code, 0x9e3779b1);
    low = Math.imul(low ^ code, 0x85ebca77);
    high ^= high >>> 15;
    low ^= low >>> 13;
  }
  high = Math.imul(high ^ (high >>> 16), 0xc2b2ae3d) ^ Math.imul(low ^ (low >>> 13), 0x27d4eb2f);
  low = Math.imul(low ^ (low >>> 16), 0x165667b1) ^ Math.imul(high ^ (high >>> 13), 0xc2b2ae35);
  into[position * WORDS] = high;
  into[position * WORDS + 1] = low;
}

/** A set of digests in one array. It takes an eighth of the memory of a set of strings. */
export class DigestSet {
  private table = new Uint32Array(1024 * WORDS);
  private count = 0;

  get size(): number {
    return this.count;
  }

  has(digests: Uint32Array, position: number): boolean {
    return this.slot(digests, position) === undefined;
  }

  /** Adds a digest. Returns false if the set already contains it. */
  add(digests: Uint32Array, position: number): boolean {
    if ((this.count + 1) * WORDS > this.table.length * FULL) this.grow();
    const slot = this.slot(digests, position);
    if (slot === undefined) return false;
    this.table[slot] = given(digests, position);
    this.table[slot + 1] = digests[position * WORDS + 1] ?? 0;
    this.count += 1;
    return true;
  }

  /** Returns the place where the digest belongs, or undefined if the set contains it. */
  private slot(digests: Uint32Array, position: number): number | undefined {
    const { table } = this;
    const [high, low] = [given(digests, position), digests[position * WORDS + 1] ?? 0];
    for (let slot = (low * WORDS) & (table.length - 1); ; slot = (slot + WORDS) & (table.length - 1)) {
      if (table[slot] === 0) return slot;
      if (table[slot] === high && table[slot + 1] === low) return undefined;
    }
  }

  private grow(): void {
    const before = this.table;
    this.table = new Uint32Array(before.length * 2);
    this.count = 0;
    for (let position = 0; position < before.length / WORDS; position += 1)
      if (before[position * WORDS] !== 0) this.add(before, position);
  }
}

/** Returns the first number of a digest, which is never 0 because 0 marks a free place in the table. */
function given(digests: Uint32Array, position: number): number {
  return Math.max(digests[position * WORDS] ?? 0, 1);
}
