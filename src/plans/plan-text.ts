/** Prints answers about plans on the command line. */
import type { AnswerPrinter } from '../operations/index.js';

interface PlanAnswer {
  readonly name: string;
  readonly limits: Readonly<Record<string, number | null>>;
  readonly successor: string | null;
}

interface UsageAnswer {
  readonly plan: string;
  readonly successor: string | null;
  readonly usage: Readonly<Record<string, { readonly used: number; readonly limit: number | null }>>;
}

const numberText = (number: number | null): string => (number === null ? '-' : number.toLocaleString('en'));

export const plansText: AnswerPrinter = (answer, { table }) => {
  const { plans, sign_up } = answer as { readonly plans: readonly PlanAnswer[]; readonly sign_up: string };
  const limits = Object.keys(plans[0]?.limits ?? {});
  const rows = plans.map((plan) => [
    plan.name,
    ...limits.map((limit) => numberText(plan.limits[limit] ?? null)),
    plan.successor ?? '-',
  ]);
  const heads = ['PLAN', ...limits.map((limit) => limit.replaceAll('_', ' ').toUpperCase()), 'SUCCESSOR'];
  const newcomers = `Accounts of people who sign up (openid.sign_up) begin on the plan '${sign_up}', others on 'default'.`;
  return `${table([heads, ...rows])}${newcomers}\n`;
};

export const usageText: AnswerPrinter = (answer, { table }) => {
  const { plan, successor, usage } = answer as UsageAnswer;
  const next = successor === null ? '' : `, near a limit '${successor}'`;
  const rows = Object.entries(usage).map(([limit, { used, limit: allowed }]) => [
    limit.replaceAll('_', ' '),
    numberText(used),
    numberText(allowed),
  ]);
  return `Plan '${plan}'${next}\n${table([['OF', 'USED', 'LIMIT'], ...rows])}`;
};
