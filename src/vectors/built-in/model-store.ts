/**
 * The built-in models of a list, in its store: the database `built-in-models` has the bytes of each (`text-model.ts`)
 * by version. There are two while the vectors of the later one are being made.
 *
 * Thread-safety: as that of the store.
 */
import type { Database } from 'lmdb';
import type { RecordStore } from '../../records/index.js';
import { DamagedModelError, TextModel, versionOf } from './text-model.js';

const DATABASE = 'built-in-models';
/** Maximum number of loaded models per list and thread. */
const OPENED_MAX = 2;

export class BuiltInModels {
  private readonly opened = new Map<string, TextModel>();

  private constructor(private readonly database: Database<Buffer, string>) {}

  private static readonly known = new WeakMap<RecordStore, BuiltInModels>();

  /** Must not be called for the first time inside a transaction: opening a database is a transaction of its own. */
  static of(store: RecordStore): BuiltInModels {
    let models = this.known.get(store);
    if (models === undefined) {
      models = new BuiltInModels(store.environment.database<Buffer, string>(DATABASE, { encoding: 'binary' }));
      this.known.set(store, models);
    }
    return models;
  }

  /** False if the list never learned a model; no database is opened to find out. */
  static areIn(store: RecordStore): boolean {
    return store.hasDatabase(DATABASE);
  }

  /** Undefined if the model is missing or damaged. */
  get(version: string): TextModel | undefined {
    const known = this.opened.get(version);
    if (known !== undefined) return known;
    const bytes = this.bytes(version);
    if (bytes === undefined || versionOf(bytes) !== version) return undefined;
    try {
      const model = new TextModel(bytes);
      for (const oldest of this.opened.keys()) if (this.opened.size >= OPENED_MAX) this.opened.delete(oldest);
      this.opened.set(version, model);
      return model;
    } catch (error) {
      if (error instanceof DamagedModelError) return undefined;
      throw error;
    }
  }

  bytes(version: string): Buffer | undefined {
    const stored = this.database.getBinary(version);
    return stored && Buffer.from(stored.subarray(0, stored.length));
  }

  /** Stores a model, inside a transaction, as `remove` requires too. */
  put(version: string, bytes: Uint8Array): void {
    this.database.putSync(version, Buffer.from(bytes));
  }

  remove(version: string): void {
    this.database.removeSync(version);
    this.opened.delete(version);
  }
}
