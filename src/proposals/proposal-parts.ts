/** Parts of the feature: its operation, and the used allowance of accounts. */
import { provide, type FeatureParts } from '../operations/index.js';
import { settingsOf } from '../platform/index.js';
import { AiAllowance } from './ai-allowance.js';
import { PROPOSALS, type ProposalsPart } from './part.js';
import { proposalOperations } from './proposal-operations.js';
import { PROPOSAL_SETTINGS } from './proposal-settings.js';

export const proposalParts: FeatureParts = {
  operations: proposalOperations,
  open({ config, environment, clock }) {
    const limit = settingsOf(config, PROPOSAL_SETTINGS).by_models_a_week;
    const part: ProposalsPart = { allowance: new AiAllowance(environment, { clock, limit }), underWay: 0 };
    return {
      parts: [provide(PROPOSALS, part)],
      async forget({ subject, account }) {
        if (subject === 'account') await part.allowance.forget(account);
        return true;
      },
    };
  },
};
