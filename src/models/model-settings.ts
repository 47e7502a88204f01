/** `[models]` of the settings. */
import { Type } from 'typebox';
import { defineSettings, type SettingValues } from '../platform/index.js';

export const MODEL_SETTINGS = defineSettings('models', {
  models_max: {
    schema: Type.Integer({ minimum: 1, maximum: 10_000 }),
    default: 100,
    comment: 'Models of one account.',
  },
  call_seconds: {
    schema: Type.Integer({ minimum: 1, maximum: 600 }),
    default: 30,
    comment: 'A model that has not answered after so many seconds has failed.',
  },
  query_ms: {
    schema: Type.Integer({ minimum: 1, maximum: 60_000 }),
    default: 1000,
    comment: 'Milliseconds that a search waits for the vector of its text; then it goes on with words alone.',
  },
  reranker_top: {
    schema: Type.Integer({ minimum: 2, maximum: 1000 }),
    default: 50,
    comment: 'So many of the best hits of a search are put in the order of its reranker.',
  },
  reranker_ms: {
    schema: Type.Integer({ minimum: 1, maximum: 60_000 }),
    default: 300,
    comment: 'Milliseconds that a search waits for its reranker; then its hits stay in the order that they have.',
  },
  batch_texts: {
    schema: Type.Integer({ minimum: 1, maximum: 2048 }),
    default: 32,
    comment: 'Texts that a server is sent in one request at most.',
  },
});

export type ModelSettings = SettingValues<typeof MODEL_SETTINGS.members>;
