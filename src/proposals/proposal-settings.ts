/** `[proposals]` of the settings. */
import { Type } from 'typebox';
import { defineSettings } from '../platform/index.js';

export const PROPOSAL_SETTINGS = defineSettings('proposals', {
  by_models_a_week: {
    schema: Type.Integer({ minimum: 0, maximum: 1_000_000 }),
    default: 100,
    comment:
      'Synonym rules that models may propose to an account in a week (from Monday, UTC): its AI allowance. An answer without a rule counts as one. What the service finds without a model is not counted. 0: models are not asked.',
  },
});
