/** Commands that speak for one operation of no feature: their arguments, options and help come from it. */
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
