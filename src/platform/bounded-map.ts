/** A map that remembers only as many entries as there is room for. */

/** A map of at most `entriesMax` entries; a new entry replaces the oldest one. `renew` makes an entry the newest. */
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

  /** Sets the value; an existing key keeps its age. */
  set(key: Key, value: Value): void {
    if (this.#entries.size >= this.entriesMax && !this.#entries.has(key)) this.#removeOldest();
    this.#entries.set(key, value);
  }

  /** Sets the value and makes the key the newest, whether it existed or not. */
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
