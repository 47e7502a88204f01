/** Under which name operations find what proposals have in common. */
import { serviceKey } from '../platform/index.js';
import type { AiAllowance } from './ai-allowance.js';

export interface ProposalsPart {
  readonly allowance: AiAllowance;
  /** Suggestions that are being made, of all accounts. */
  underWay: number;
}

export const PROPOSALS = serviceKey<ProposalsPart>('proposals');
