/** Key by which operations and later features find plans. */
import { serviceKey } from '../platform/index.js';
import type { Plans } from './plans.js';
import type { Plan } from './types.js';

export interface PlansPart {
  readonly plans: Plans;
  /** Plans that the settings offer, in their order. */
  readonly offered: readonly Plan[];
  /** Name of the plan for accounts of people who sign up. */
  readonly planOfNewcomers: string;
}

export const PLANS = serviceKey<PlansPart>('plans');
