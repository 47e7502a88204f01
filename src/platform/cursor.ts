/**
 * What is listed is read in pages, each behind the last key of the one before: a page costs what is in it, wherever it is, and nothing is
 * left out or told twice where entries come and go meanwhile.
 */

export interface WantedPage {
  /** Key of the last entry of the page before; none: the first page. It need not be there any more. */
  readonly after?: string;
  readonly size: number;
}

export interface Page<Entry> {
  readonly entries: readonly Entry[];
  /** `after` of the page behind this one; undefined on the last. */
  readonly next: string | undefined;
}

/** The next entries of those that come in the order of their keys. */
export function pageOf<Entry>(entries: Iterable<Entry>, keyOf: (entry: Entry) => string, size: number): Page<Entry> {
  const page: Entry[] = [];
  for (const entry of entries) {
    if (page.length === size) return { entries: page, next: keyOf(page[size - 1] as Entry) };
    page.push(entry);
  }
  return { entries: page, next: undefined };
}

/** Keys in the order of their UTF-16 units, to be read from any of them on. */
export class OrderedKeys {
  readonly #keys: string[];

  constructor(keys: Iterable<string> = []) {
    this.#keys = [...keys].sort(inOrder);
  }

  get size(): number {
    return this.#keys.length;
  }

  /** One that is there already stays as it is. */
  add(key: string): void {
    const place = this.#placeOf(key);
    if (this.#keys[place] !== key) this.#keys.splice(place, 0, key);
  }

  remove(key: string): void {
    const place = this.#placeOf(key);
    if (this.#keys[place] === key) this.#keys.splice(place, 1);
  }

  /** Those with the prefix that come after `prefix + after`; all with the prefix where that is not given. Not to be changed meanwhile. */
  *from(prefix: string, after?: string): Generator<string> {
    const first = prefix + (after ?? '');
    let place = this.#placeOf(first);
    if (after !== undefined && this.#keys[place] === first) place += 1;
    for (; place < this.#keys.length; place += 1) {
      const key = this.#keys[place] as string;
      if (!key.startsWith(prefix)) return;
      yield key;
    }
  }

  /** Of the key, or of the first one behind it. */
  #placeOf(key: string): number {
    let low = 0;
    let high = this.#keys.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#keys[middle] as string) < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function inOrder(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
