/**
 * Stores the models of all accounts in the collection `models` of `data/system`. Secrets are sealed on disk and open in
 * memory. Main thread only.
 */
import { MODEL_VIEW } from '../vectors/index.js';
import { assertAccount, CollectionStore, compositeKey, type Collection } from '../catalog/index.js';
import {
  SecretUnreadableError,
  ServiceError,
  type Clock,
  type LmdbEnvironment,
  type Secret,
  type SecretBox,
} from '../platform/index.js';
import { RESERVED_MODEL_NAMES, type Model, type StoredModel } from './types.js';

export interface ModelStoreOptions {
  readonly environment: LmdbEnvironment;
  readonly secrets: SecretBox;
  readonly clock: Clock;
  /** Limit per account. */
  readonly modelsMax: number;
  /** Called if a secret cannot be opened. */
  readonly onUnreadable: (model: Pick<StoredModel, 'account' | 'name'>, error: SecretUnreadableError) => void;
}

export type NewModel = Omit<Model, 'created_utc' | 'modified_utc' | 'secret'> & { readonly secret: Secret | null };
/** Changes to a model. A secret that is not given stays. */
export type ModelChange = Partial<Omit<NewModel, 'account' | 'name' | 'kind' | 'provider'>>;

export class ModelStore {
  readonly #store: CollectionStore;
  readonly #rows: Collection<StoredModel>;
  /** Keyed by account and name; with open secrets. As up to date as the rows. */
  readonly #models = new Map<string, Model>();

  constructor(private readonly options: ModelStoreOptions) {
    this.#store = CollectionStore.of(options.environment);
    this.#rows = this.#store.collection('models');
    for (const row of this.#rows.values()) this.#models.set(keyOf(row), this.#opened(row));
    this.#rows.follow({
      changed: (before, after) => {
        if (after !== undefined) this.#models.set(keyOf(after), this.#opened(after));
        else if (before !== undefined) this.#models.delete(keyOf(before));
      },
    });
    options.secrets.keptBy(() => this.#reseal());
  }

  /** Sorted by name. */
  of(account: string): readonly Model[] {
    const own = [...this.#models.values()].filter((model) => model.account === account);
    return own.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  all(): readonly Model[] {
    return [...this.#models.values()];
  }

  get(account: string, name: string): Model | undefined {
    return this.#models.get(compositeKey(account, name));
  }

  /** Throws `not-found`. */
  required(account: string, name: string): Model {
    const found = this.get(account, name);
    if (found !== undefined) return found;
    const names = () => this.of(account).map((model) => model.name);
    throw new ServiceError('not-found', `The account '${account}' has no model '${name}'.`, {
      meant: { given: name, permission: MODEL_VIEW, names },
    });
  }

  /** Rejects with `name-exists`, or with `conflict` if the account has too many. */
  async create(model: NewModel): Promise<Model> {
    const row = await this.#store.change((change) => {
      assertAccount(this.#store, model.account);
      if (this.get(model.account, model.name) !== undefined || RESERVED_MODEL_NAMES.has(model.name)) {
        throw new ServiceError('name-exists', `There is already a model '${model.name}'.`);
      }
      const { modelsMax, clock } = this.options;
      if (this.of(model.account).length >= modelsMax) {
        throw new ServiceError(
          'conflict',
          `The account already has ${modelsMax} models, the most that it can have: delete one first.`,
        );
      }
      const now = clock.nowIso();
      const { secret, ...rest } = model;
      const created: StoredModel = {
        ...rest,
        secret: this.#sealed(model, secret),
        created_utc: now,
        modified_utc: now,
      };
      change.put(this.#rows, keyOf(created), created);
      return created;
    });
    return this.#written(row);
  }

  /** Rejects with `not-found`. */
  async update(account: string, name: string, { secret, ...changed }: ModelChange): Promise<Model> {
    const row = await this.#store.change((change) => {
      const before = this.#rows.get(keyOf(this.required(account, name))) as StoredModel;
      const next: StoredModel = {
        ...before,
        ...changed,
        secret: secret === undefined ? before.secret : this.#sealed(before, secret),
        modified_utc: this.options.clock.nowIso(),
      };
      change.put(this.#rows, keyOf(next), next);
      return next;
    });
    return this.#written(row);
  }

  /** `assertFree` throws if the model may not be deleted. Rejects with that error, or with `not-found`. */
  delete(account: string, name: string, assertFree: () => void): Promise<void> {
    return this.#store.change((change) => {
      const model = this.required(account, name);
      assertFree();
      change.remove(this.#rows, keyOf(model));
    });
  }

  /** Deletes all models of a deleted account, with their secrets. Resolves with the deleted ones. */
  forget(account: string): Promise<readonly Model[]> {
    return this.#store.change((change) => {
      const own = this.of(account);
      for (const model of own) change.remove(this.#rows, keyOf(model));
      return own;
    });
  }

  #written(row: StoredModel): Model {
    return this.#models.get(keyOf(row)) ?? this.#opened(row);
  }

  #sealed(model: Pick<StoredModel, 'account' | 'name'>, secret: Secret | null): string | null {
    return secret === null ? null : this.options.secrets.seal(secret, placeOf(model));
  }

  #opened(row: StoredModel): Model {
    const model = { ...row, folder: row.folder ?? null, pictures: row.pictures ?? null };
    if (row.secret === null) return { ...model, secret: null };
    const { secrets, onUnreadable } = this.options;
    try {
      return { ...model, secret: secrets.open(row.secret, placeOf(row)) };
    } catch (error) {
      if (!(error instanceof SecretUnreadableError)) throw error;
      onUnreadable(row, error);
      return { ...model, secret: 'unreadable' };
    }
  }

  /** Seals all secrets anew. Secrets that cannot be opened stay as they are, since their key may come back. */
  #reseal(): Promise<number> {
    return this.#store.change((change) => {
      const { secrets } = this.options;
      let count = 0;
      for (const row of this.#rows.values()) {
        const secret = this.#models.get(keyOf(row))?.secret ?? null;
        if (row.secret === null || secret === null || secret === 'unreadable' || secrets.isCurrent(row.secret))
          continue;
        change.put(this.#rows, keyOf(row), { ...row, secret: this.#sealed(row, secret) });
        count += 1;
      }
      return count;
    });
  }
}

function keyOf({ account, name }: Pick<StoredModel, 'account' | 'name'>): string {
  return compositeKey(account, name);
}

function placeOf({ account, name }: Pick<StoredModel, 'account' | 'name'>): string {
  return `model/${account}/${name}`;
}
