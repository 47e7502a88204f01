/** Plans as a feature: limits on what accounts may have. */
import type { Feature } from '../operations/index.js';
import { PLAN_SETTINGS } from './plan-settings.js';

const printUsage = async () => (await import('./plan-text.js')).usageText;

export const plans: Feature = {
  name: 'plans',
  settings: PLAN_SETTINGS,
  events: {
    'subscription.auto-upgraded': {
      description: 'An account was moved to a larger plan near a limit (with `from_plan` and `to_plan`)',
    },
  },
  commands: [
    {
      name: 'plan list',
      group: 'limits of accounts: show the plans, and put accounts on them',
      operation: 'plan.list',
      print: async () => (await import('./plan-text.js')).plansText,
    },
    { name: 'plan show', operation: 'plan.read', print: printUsage },
    {
      name: 'plan set',
      operation: 'plan.set',
      begins: true,
      arguments: ['plan'],
      example: ['default'],
      print: printUsage,
    },
  ],
  load: async () => (await import('./plan-parts.js')).planParts,
};
