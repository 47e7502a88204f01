/** Parts of the feature: operations of models, and the service that others call models by. */
import { join, resolve } from 'node:path';
import { provide, type FeatureParts } from '../operations/index.js';
import { machineShare, settingsOf } from '../platform/index.js';
import { modelOperations } from './model-operations.js';
import { MODEL_SETTINGS } from './model-settings.js';
import { ModelStore } from './model-store.js';
import { Models, MODELS } from './models.js';

export const modelParts: FeatureParts = {
  operations: modelOperations,
  open({ config, environment, secrets, clock, log, catalog, indexes }) {
    const settings = settingsOf(config, MODEL_SETTINGS);
    const store = new ModelStore({
      environment,
      secrets,
      clock,
      modelsMax: settings.models_max,
      onUnreadable: ({ account, name }, error) => {
        log.error(
          { account, model: name, reason: error.message },
          'A model is unavailable: its secret cannot be opened',
        );
      },
    });
    const models = new Models({
      store,
      catalog,
      settings,
      outbound: config.outbound,
      onnx: {
        folders: settings.dir === '' ? join(config.data.dir, 'models') : resolve(settings.dir),
        recordProcesses: settings.onnx_processes === 0 ? machineShare().processors : settings.onnx_processes,
        searchProcesses: settings.onnx_search_processes,
        memoryMibMax: settings.onnx_memory_mib_max,
        onDeath: (error) => {
          log.warn({ reason: error.message }, 'A process that runs models ended; starting a new one');
        },
        onBug: (stack) => {
          log.error({ stack }, 'A process that runs models failed because of a bug');
        },
      },
    });
    indexes.useModels(models);
    return {
      parts: [provide(MODELS, models)],
      async forget({ subject, account }) {
        if (subject === 'account') await models.forget(account);
        return true;
      },
      close: () => models.close(),
    };
  },
};
