/**
 * Commands that call a single operation that belongs to no feature. Their arguments, options and help derive from the
 * operation.
 */
import type { CommandSpec } from '../operations/index.js';

export const CORE_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'progress',
    operation: 'progress.read',
    print: async () => (await import('./progress-view.js')).progressView,
  },
  {
    name: 'service settings',
    group: 'show the settings and the state of the running service',
    operation: 'service.settings',
    print: async () => (await import('./settings-view.js')).settingsView,
  },
  {
    name: 'service state',
    operation: 'service.state',
    print: async () => (await import('./state-view.js')).stateView,
  },
];
