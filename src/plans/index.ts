export { PLANS, type PlansPart } from './part.js';
export type { Plans } from './plans.js';
