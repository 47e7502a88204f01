/** What is remembered as long as there is room for it. */

/** A map of at most so many entries: one more takes the place of the oldest. One that `renew` puts in again is the newest. */
export class BoundedMap<Key, Value> {
  readonly #entries = new Map<Key, Value>();

  constructor(private readonly entriesMax: number) {}

  get size(): number {
    return this.#entries.size;
  }

  get(key: Key): Value | undefined {
    return this.#entries.get(key);
  }

  has(key: Key): boolean {
    return this.#entries.has(key);
  }

  /** One that is there keeps its age. */
  set(key: Key, value: Value): void {
    if (this.#entries.size >= this.entriesMax && !this.#entries.has(key)) this.#removeOldest();
    this.#entries.set(key, value);
  }

  /** As the newest, whether it is there or not. */
  renew(key: Key, value: Value): void {
    this.#entries.delete(key);
    this.set(key, value);
  }

  delete(key: Key): boolean {
    return this.#entries.delete(key);
  }

  deleteWhere(isLeftOut: (value: Value) => boolean): void {
    for (const [key, value] of this.#entries) if (isLeftOut(value)) this.#entries.delete(key);
  }

  #removeOldest(): void {
    for (const key of this.#entries.keys()) {
      this.#entries.delete(key);
      return;
    }
  }
}
