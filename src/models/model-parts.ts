/** Models as they run: their operations, and who asks them. */
import { provide, type FeatureParts } from '../operations/index.js';
import { settingsOf } from '../platform/index.js';
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
    const models = new Models({ store, catalog, settings, outbound: config.outbound });
    indexes.useModels(models);
    return { parts: [provide(MODELS, models)], close: () => models.close() };
  },
};
