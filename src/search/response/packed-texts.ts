/**
 * Buffers the packed texts of pages for one part of an answer. The store's bytes are valid only until its next read,
 * while the kernel marks many texts in one call. The memory is reused. Belongs to one thread.
 */
import { kernelConstant } from '../../../native-bindings/index.js';
import type { StoredPage } from '../../extracts/index.js';

const TEXTS_BYTES = 64 * 1024;
/** A buffer that grew beyond this size is released. */
const KEPT_BYTES_MAX = 1024 * 1024;
const TEXTS = 64;
/** Numbers per text in the kernel's format: begin, end, packing, and length of the unpacked text. */
const NUMBERS_OF_TEXT = 4;
const DAMAGED = kernelConstant('PageDamaged');
const BY_DICTIONARY = kernelConstant('PageByDictionary');

export class PackedTexts {
  private buffer = Buffer.allocUnsafeSlow(TEXTS_BYTES);
  private all = new Uint32Array(NUMBERS_OF_TEXT * TEXTS);
  private used = 0;
  private count = 0;
  /** Dictionaries by which some of the texts are packed. */
  readonly dictionaries: Uint8Array[] = [];

  get length(): number {
    return this.count;
  }

  /** Bytes of all texts. A view that is valid until the next text is added, like the others. */
  get bytes(): Uint8Array {
    return this.buffer.subarray(0, this.used);
  }

  /** NUMBERS_OF_TEXT numbers per text. */
  get numbers(): Uint32Array {
    return this.all.subarray(0, NUMBERS_OF_TEXT * this.count);
  }

  /** Returns a text as it was added. */
  text(index: number): Pick<StoredPage, 'packed' | 'packing' | 'textBytes'> {
    const [begin, end, packing = DAMAGED, textBytes = 0] = this.all.subarray(NUMBERS_OF_TEXT * index);
    const dictionary = packing < BY_DICTIONARY ? packing : this.dictionaries[packing - BY_DICTIONARY];
    return { packed: this.buffer.subarray(begin, end), packing: dictionary ?? null, textBytes };
  }

  add({ packed, packing, textBytes }: Pick<StoredPage, 'packed' | 'packing' | 'textBytes'>): void {
    const { used } = this;
    const end = used + packed.length;
    if (end > this.buffer.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(end, 2 * this.buffer.length));
      grown.set(this.bytes);
      this.buffer = grown;
    }
    const at = NUMBERS_OF_TEXT * this.count;
    if (at === this.all.length) {
      const more = new Uint32Array(2 * this.all.length);
      more.set(this.all);
      this.all = more;
    }
    this.buffer.set(packed, used);
    this.all[at] = used;
    this.all[at + 1] = end;
    this.all[at + 2] = packing === null ? DAMAGED : typeof packing === 'number' ? packing : this.placeOf(packing);
    this.all[at + 3] = textBytes;
    this.used = end;
    this.count += 1;
  }

  private placeOf(dictionary: Uint8Array): number {
    const { dictionaries } = this;
    let place = dictionaries.indexOf(dictionary);
    if (place < 0) place = dictionaries.push(dictionary) - 1;
    return BY_DICTIONARY + place;
  }

  /** Removes all texts; their memory is overwritten from now on. */
  clear(): void {
    this.used = 0;
    this.count = 0;
    this.dictionaries.length = 0;
    if (this.buffer.length > KEPT_BYTES_MAX) this.buffer = Buffer.allocUnsafeSlow(TEXTS_BYTES);
  }
}
