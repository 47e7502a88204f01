/**
 * Cache of vectors of search texts. Simultaneous requests for one text share one call, and texts of one turn of the
 * event loop are sent together. Lists of a group that share a model share its vector.
 */
import type { Embedder } from '../vectors/index.js';

export interface QueryEmbeddingsOptions {
  /** Limit on the bytes of cached vectors and texts. */
  readonly bytesMax: number;
}

interface Kept {
  readonly vector: Float32Array;
  readonly bytes: number;
}

interface Asked {
  readonly text: string;
  readonly resolve: (vector: Float32Array) => void;
  readonly reject: (error: unknown) => void;
}

/** Memory of an entry besides its text and its vector. */
const ENTRY_BYTES = 200;
const SEPARATOR = '\n';

export class QueryEmbeddings {
  /** Ordered by last use. */
  readonly #kept = new Map<string, Kept>();
  readonly #underWay = new Map<string, Promise<Float32Array>>();
  readonly #gathered = new Map<string, { embedder: Embedder; asked: Asked[] }>();
  #bytes = 0;

  constructor(private readonly options: QueryEmbeddingsOptions) {}

  /** Returns a vector that must not be modified. Rejects with a ModelError. */
  vectorOf(embedder: Embedder, text: string): Promise<Float32Array> {
    const key = embedder.version + SEPARATOR + text;
    const kept = this.#kept.get(key);
    if (kept !== undefined) {
      this.#kept.delete(key);
      this.#kept.set(key, kept);
      return Promise.resolve(kept.vector);
    }
    const underWay = this.#underWay.get(key);
    if (underWay !== undefined) return underWay;
    const asked = this.#ask(embedder, text).then(
      (vector) => {
        this.#underWay.delete(key);
        this.#keep(key, vector);
        return vector;
      },
      (error: unknown) => {
        this.#underWay.delete(key);
        throw error;
      },
    );
    this.#underWay.set(key, asked);
    return asked;
  }

  #ask(embedder: Embedder, text: string): Promise<Float32Array> {
    return new Promise((resolve, reject) => {
      const gathered = this.#gathered.get(embedder.version);
      if (gathered !== undefined) {
        gathered.asked.push({ text, resolve, reject });
        return;
      }
      this.#gathered.set(embedder.version, { embedder, asked: [{ text, resolve, reject }] });
      setImmediate(() => void this.#send(embedder.version));
    });
  }

  async #send(version: string): Promise<void> {
    const gathered = this.#gathered.get(version);
    this.#gathered.delete(version);
    if (gathered === undefined) return;
    const { embedder, asked } = gathered;
    const settle = async (some: readonly Asked[]): Promise<void> => {
      try {
        const vectors = await embedder.embed(
          some.map(({ text }) => text),
          'query',
        );
        for (const [index, { resolve }] of some.entries()) resolve(vectors[index] as Float32Array);
      } catch (error) {
        // One text that the model refuses must not fail the others, so each is sent alone.
        if (some.length > 1 && (error as { retry?: unknown }).retry === 'never') {
          await Promise.all(some.map((each) => settle([each])));
        } else {
          for (const { reject } of some) reject(error);
        }
      }
    };
    await settle(asked);
  }

  #keep(key: string, vector: Float32Array): void {
    const bytes = key.length * 2 + vector.byteLength + ENTRY_BYTES;
    if (bytes > this.options.bytesMax) return;
    this.#kept.set(key, { vector, bytes });
    this.#bytes += bytes;
    for (const [oldest, { bytes: freed }] of this.#kept) {
      if (this.#bytes <= this.options.bytesMax) break;
      this.#kept.delete(oldest);
      this.#bytes -= freed;
    }
  }
}
