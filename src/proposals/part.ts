/** Key by which operations find the shared state of proposals. */
import { serviceKey } from '../platform/index.js';
import type { AiAllowance } from './ai-allowance.js';

export interface ProposalsPart {
  readonly allowance: AiAllowance;
  /** Suggestions in progress, over all accounts. */
  underWay: number;
}

export const PROPOSALS = serviceKey<ProposalsPart>('proposals');
