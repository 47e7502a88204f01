/** The models that lists may name, as lists and searches see them. */
import { BUILT_IN_MODEL } from './built-in/model-name.js';
import type { MeantName } from '../platform/index.js';
import { ModelError, type AttachedModel, type Embedder, type ListOfModel, type SearchReranker } from './embedder.js';
import type { PictureEmbedder } from './picture-embedder.js';

export interface ListModels {
  /** True if a list may name the model. */
  knows(account: string, model: string): boolean;
  /** Names of all models, of any kind. */
  names(account: string): readonly string[];
  /**
   * Returns the vector of a search text, which must not be changed. Rejects with a `ModelError`, also if it takes
   * longer than a search waits.
   */
  embedQuery(embedder: Embedder, text: string): Promise<Float32Array>;
  /** Undefined if there is no such model, or it reads no pictures. */
  pictures(account: string, name: string): PictureEmbedder | undefined;
  /** Undefined if there is no such reranker. */
  reranker(account: string, name: string): SearchReranker | undefined;
  /** Undefined if there is no such model. */
  attached(list: ListOfModel): AttachedModel | undefined;
  /** Registers a listener that is called when names may refer to other models. */
  onChange(listener: () => void): void;
}

/** Permission to see the models of an account. */
export const MODEL_VIEW = 'model:view';

/** Model name that is always available, for lists whose records bring their vectors. */
export const OWN_MODEL = 'own';

/** Undefined for models that have to be added first. */
export function modelWithoutAdding(model: string): AttachedModel | undefined {
  if (model === BUILT_IN_MODEL) return { source: 'built-in' };
  return model === OWN_MODEL ? { source: 'own', dimensions: null } : undefined;
}

/** Only the models that are available without being added. */
export const MODELS_WITHOUT_ADDING: ListModels = {
  knows: (_account, model) => modelWithoutAdding(model) !== undefined,
  names: () => [BUILT_IN_MODEL, OWN_MODEL],
  embedQuery: () => Promise.reject(new ModelError('There is no such model.', { retry: 'never', reason: 'unknown' })),
  pictures: () => undefined,
  reranker: () => undefined,
  attached: ({ model }) => modelWithoutAdding(model),
  onChange: () => undefined,
};

/** Describes a model name that does not exist, or is of another kind, for suggesting a fitting one. */
export function meantModel(
  models: ListModels,
  account: string,
  given: string,
  fits: (name: string) => boolean,
): MeantName {
  return { given, permission: MODEL_VIEW, names: () => models.names(account).filter(fits) };
}
