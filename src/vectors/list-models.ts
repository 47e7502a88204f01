/** The models that lists may name, as lists and searches see them. */
import { BUILT_IN_MODEL } from './built-in/model-name.js';
import type { MeantName } from '../platform/index.js';
import { ModelError, type AttachedModel, type Embedder, type ListOfModel, type SearchReranker } from './embedder.js';
import type { PictureEmbedder } from './picture-embedder.js';

export interface ListModels {
  /** A list may name it. */
  knows(account: string, model: string): boolean;
  /** All that there are, of whatever kind. */
  names(account: string): readonly string[];
  /** The vector of a search text, which nobody may change. Rejects with a `ModelError`, also where it takes longer than a search waits. */
  embedQuery(embedder: Embedder, text: string): Promise<Float32Array>;
  /** Undefined: there is no such model, or it reads no pictures. */
  pictures(account: string, name: string): PictureEmbedder | undefined;
  /** Undefined: there is no such reranker. */
  reranker(account: string, name: string): SearchReranker | undefined;
  /** Undefined where there is no such model. */
  attached(list: ListOfModel): AttachedModel | undefined;
  /** Called when what names stand for may have changed. */
  onChange(listener: () => void): void;
}

/** Who has this permission sees the models of an account. */
export const MODEL_VIEW = 'model:view';

/** The name that is always there for lists whose records bring their vectors. */
export const OWN_MODEL = 'own';

/** Undefined for names that somebody has to have added. */
export function modelWithoutAdding(model: string): AttachedModel | undefined {
  if (model === BUILT_IN_MODEL) return { source: 'built-in' };
  return model === OWN_MODEL ? { source: 'own', dimensions: null } : undefined;
}

/** Only what is there without being added. */
export const MODELS_WITHOUT_ADDING: ListModels = {
  knows: (_account, model) => modelWithoutAdding(model) !== undefined,
  names: () => [BUILT_IN_MODEL, OWN_MODEL],
  embedQuery: () => Promise.reject(new ModelError('There is no such model.', { retry: 'never', reason: 'unknown' })),
  pictures: () => undefined,
  reranker: () => undefined,
  attached: ({ model }) => modelWithoutAdding(model),
  onChange: () => undefined,
};

/** Of a model that is not there, or of another kind: which was meant of those that fit. */
export function meantModel(
  models: ListModels,
  account: string,
  given: string,
  fits: (name: string) => boolean,
): MeantName {
  return { given, permission: MODEL_VIEW, names: () => models.names(account).filter(fits) };
}
