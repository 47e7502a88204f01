/** Models as a feature: external and local models that the service calls to understand texts. */
import type { Feature } from '../operations/index.js';
import { MODEL_SETTINGS } from './model-settings.js';

const ofOne = { arguments: ['model'], example: ['minilm'] } as const;

export const models: Feature = {
  name: 'models',
  settings: MODEL_SETTINGS,
  commands: [
    {
      name: 'model list',
      group: 'add models that lists are searched with, show, change, test and remove them',
      operation: 'model.list',
      print: async () => (await import('./model-table.js')).printModels,
    },
    { name: 'model show', operation: 'model.read', ...ofOne },
    {
      name: 'model add',
      operation: 'model.create',
      begins: true,
      arguments: ['name'],
      secrets: ['secret'],
      example: ['minilm', '--provider', 'openai', '--url', 'http://127.0.0.1:11434/v1', '--served-name', 'all-minilm'],
    },
    { name: 'model update', operation: 'model.update', ...ofOne, secrets: ['secret'] },
    { name: 'model test', operation: 'model.test', ...ofOne },
    { name: 'model delete', operation: 'model.delete', ...ofOne },
  ],
  sealed: [
    { collection: 'models', called: 'model', sealedOf: ({ secret }: { readonly secret: string | null }) => [secret] },
  ],
  load: async () => (await import('./model-parts.js')).modelParts,
};
