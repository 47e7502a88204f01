import { basename, dirname } from 'node:path';
import { Models } from '#src/models/models.js';
import { standIn } from '../end-to-end/lib/stand-in.mjs';

/**
 * @import { ModelStore } from '#src/models/model-store.js'
 * @import { Model } from '#src/models/types.js'
 */

/** Runs the service's models without a service: the account `bench` has one, `model`, from the folder, in the given number of processes. */
export async function servedModel(folder, { processes, tokensMax }) {
  /** @type {Model | undefined} */
  let kept;
  const now = new Date().toISOString();
  /** @type {ModelStore} */
  const store = standIn({
    get: () => kept,
    create: (model) => Promise.resolve((kept = { ...model, created_utc: now, modified_utc: now })),
  });
  const models = new Models({
    store,
    catalog: { lists: () => [], groups: () => [] },
    settings: {
      call_seconds: 60,
      chat_seconds: 60,
      transcription_seconds: 60,
      batch_texts: 32,
      query_ms: 60_000,
      reranker_top: 50,
      reranker_ms: 60_000,
    },
    outbound: { allowed_hosts: [], loopback_allowed: false },
    onnx: {
      folders: dirname(folder),
      recordProcesses: processes,
      searchProcesses: 1,
      memoryMibMax: 4096,
      onDeath: (error) => process.stderr.write(`${error.message}\n`),
      onBug: (stack) => process.stderr.write(`${stack}\n`),
    },
  });
  await models.add({
    account: 'bench',
    name: 'model',
    provider: 'onnx',
    kind: 'embedding',
    dimensions: null,
    tokens_max: tokensMax,
    query_prefix: '',
    document_prefix: '',
    folder: basename(folder),
    url: null,
    served_name: null,
    requests_per_minute: null,
    tokens_per_minute: null,
    secret: null,
  });
  return models;
}
