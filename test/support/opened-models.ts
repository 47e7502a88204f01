/** Models in a test's environment, with settings that avoid time-outs. */
import { join } from 'node:path';
import { SecretBox, systemClock, type LmdbEnvironment } from '../../src/platform/index.js';
import { ModelStore } from '../../src/models/model-store.js';
import { Models, type ModelsOptions } from '../../src/models/models.js';
import { makeAccounts } from './made-accounts.js';
import { ONNX_OPTIONS } from './onnx-folder.js';
import { SimulatedTimers } from './simulated-timers.js';

const PATIENT = {
  call_seconds: 30,
  chat_seconds: 30,
  transcription_seconds: 30,
  batch_texts: 3,
  query_ms: 100_000,
  reranker_top: 50,
  reranker_ms: 100_000,
};
const MODELS_MAX = 10;

export interface OpenedModels {
  /** Folder of the secrets' keys and, by default, of the models. */
  readonly folder: string;
  readonly environment: LmdbEnvironment;
  readonly settings?: Partial<ModelsOptions['settings']>;
  readonly onnx?: Partial<ModelsOptions['onnx']>;
  readonly loopback?: boolean;
  readonly modelsMax?: number;
  readonly timers?: SimulatedTimers;
  /** Catalogue whose lists and groups may use the models. */
  readonly catalog?: ModelsOptions['catalog'];
}

export function openedModels({ folder, environment, ...given }: OpenedModels): Models {
  const { settings = {}, onnx = {}, loopback = false, modelsMax = MODELS_MAX, timers = new SimulatedTimers() } = given;
  void makeAccounts(environment, 'default');
  const store = new ModelStore({
    environment,
    secrets: new SecretBox({ path: join(folder, 'secret-keys'), given: [] }),
    clock: systemClock,
    modelsMax,
    onUnreadable: () => undefined,
  });
  return new Models({
    store,
    catalog: given.catalog ?? { lists: () => [], groups: () => [] },
    settings: { ...PATIENT, ...settings },
    outbound: { allowed_hosts: [], loopback_allowed: loopback },
    onnx: { ...ONNX_OPTIONS, folders: folder, ...onnx },
    timers,
  });
}
