/** `[models]` of the settings. */
import { Type } from 'typebox';
import { defineSettings, type SettingValues } from '../platform/index.js';

export const MODEL_SETTINGS = defineSettings('models', {
  models_max: {
    schema: Type.Integer({ minimum: 1, maximum: 10_000 }),
    default: 100,
    comment: 'Models of one account.',
  },
  dir: {
    schema: Type.String({ maxLength: 4096, path: 'file' }),
    default: '',
    comment:
      'Where models of the provider onnx are, each in a folder of its own. Empty: the folder models in the data directory.',
  },
  onnx_processes: {
    schema: Type.Integer({ minimum: 0, maximum: 256 }),
    default: 0,
    comment:
      'Processes, of one thread each, that embed records with models of ONNX folders. They exist only while there is something to embed. 0: one for each processor.',
  },
  onnx_search_processes: {
    schema: Type.Integer({ minimum: 1, maximum: 64 }),
    default: 1,
    comment: 'The same for texts of searches, and for rerankers, so that these do not wait for records.',
  },
  onnx_memory_mib_max: {
    schema: Type.Integer({ minimum: 64, maximum: 1_048_576 }),
    default: 1024,
    comment: 'Memory of each of these processes in MiB, its model included. A process that takes more is ended.',
  },
  call_seconds: {
    schema: Type.Integer({ minimum: 1, maximum: 600 }),
    default: 30,
    comment: 'A model that has not answered after this many seconds has failed.',
  },
  transcription_seconds: {
    schema: Type.Integer({ minimum: 1, maximum: 3600 }),
    default: 300,
    comment: 'The same for a model that transcribes a piece of a recording.',
  },
  chat_seconds: {
    schema: Type.Integer({ minimum: 1, maximum: 3600 }),
    default: 60,
    comment: 'The same for a model that writes text, each word of which takes a while.',
  },
  query_ms: {
    schema: Type.Integer({ minimum: 1, maximum: 60_000 }),
    default: 1000,
    comment: 'Milliseconds that a search waits for the vector of its text; then it goes on with words alone.',
  },
  reranker_top: {
    schema: Type.Integer({ minimum: 2, maximum: 1000 }),
    default: 50,
    comment: 'Number of the best hits of a search that its reranker puts in order.',
  },
  reranker_ms: {
    schema: Type.Integer({ minimum: 1, maximum: 60_000 }),
    default: 300,
    comment: 'Milliseconds that a search waits for its reranker; then the hits keep their order.',
  },
  batch_texts: {
    schema: Type.Integer({ minimum: 1, maximum: 2048 }),
    default: 32,
    comment:
      'Most texts that are sent to a server in one request. Fewer if their vectors could make the answer too long.',
  },
});

export type ModelSettings = SettingValues<typeof MODEL_SETTINGS.members>;
