/** `[plans]` of the settings: the available plans. */
import { Type } from 'typebox';
import { defineSettings, nameFault, OperatorError, type SettingValues } from '../platform/index.js';
import { LIMITS, UNLIMITED, type Limit, type Plan } from './types.js';

const PLANS_MAX = 100;
const PLAN_CHARACTERS_MAX = 300;

export const PLAN_SETTINGS = defineSettings('plans', {
  offered: {
    schema: Type.Array(Type.String({ minLength: 1, maxLength: PLAN_CHARACTERS_MAX }), { maxItems: PLANS_MAX }),
    default: [],
    comment:
      'Plans that accounts can be put on, each a text such as "free records=10000 storage_bytes=1073741824 searches_a_month=50000 lists=3 feeds=1 successor=team": its name, its limits (what is left out has none), and the plan that takes its place near a limit. Accounts that are on no plan have no limits. As an environment variable: separated by commas.',
  },
  sign_up: {
    schema: Type.String({ maxLength: PLAN_CHARACTERS_MAX }),
    default: UNLIMITED.name,
    comment:
      'Plan of the accounts of people who sign up by themselves (openid.sign_up): the name of one of the plans in plans.offered, or "default", which has no limits.',
  },
  upgrade_percent: {
    schema: Type.Integer({ minimum: 1, maximum: 100 }),
    default: 90,
    comment: 'Per cent of a limit at which an account is put on the successor of its plan.',
  },
});

export type PlanSettings = SettingValues<typeof PLAN_SETTINGS.members>;

/** Returns the plans by name. Throws an `OperatorError` that names the plan and its fault. */
export function offeredPlans(texts: readonly string[]): ReadonlyMap<string, Plan> {
  const plans = new Map<string, Plan>();
  for (const text of texts) {
    const plan = readPlan(text);
    if (plans.has(plan.name)) throw fault(text, `there is another plan '${plan.name}'`);
    plans.set(plan.name, plan);
  }
  for (const plan of plans.values()) assertEnds(plan, plans);
  return plans;
}

/** Returns the name of the plan for accounts of people who sign up. Throws an `OperatorError` if it is not offered. */
export function planOfNewcomers(name: string, offered: ReadonlyMap<string, Plan>): string {
  if (name === UNLIMITED.name || offered.has(name)) return name;
  const names = [UNLIMITED.name, ...offered.keys()].join(', ');
  throw new OperatorError(`The setting plans.sign_up cannot be used: '${name}' is not one of the plans ${names}.`);
}

function readPlan(text: string): Plan {
  const [name = '', ...members] = text.trim().split(/\s+/);
  if (nameFault('account', name) !== undefined || name === UNLIMITED.name) {
    throw fault(
      text,
      `it begins with a name of lower-case letters, digits, '-' and '_' that is not '${UNLIMITED.name}'`,
    );
  }
  const limits: Partial<Record<Limit, number>> = {};
  let successor: string | undefined;
  const seen = new Set<string>();
  for (const member of members) {
    const { key, value } = readMember(text, member);
    if (seen.has(key)) throw fault(text, `'${key}' stands there twice`);
    seen.add(key);
    if (key === 'successor') successor = value;
    else limits[key] = Number(value);
  }
  return { name, limits, successor };
}

function readMember(text: string, member: string): { readonly key: Limit | 'successor'; readonly value: string } {
  const equals = member.indexOf('=');
  const value = member.slice(equals + 1);
  const key = [...LIMITS, 'successor' as const].find((known) => known === member.slice(0, Math.max(0, equals)));
  if (key === undefined) throw fault(text, `'${member}' is none of ${LIMITS.join('=, ')}= and successor=`);
  const isNumber = /^(0|[1-9][0-9]{0,15})$/.test(value) && Number.isSafeInteger(Number(value));
  if (key !== 'successor' && !isNumber) throw fault(text, `'${key}' is a whole number from 0 on, not '${value}'`);
  return { key, value };
}

/** Throws if the successors of a plan form a cycle or one is missing. */
function assertEnds(plan: Plan, plans: ReadonlyMap<string, Plan>): void {
  const passed = new Set<string>();
  for (let at: Plan = plan; at.successor !== undefined;) {
    passed.add(at.name);
    const next = plans.get(at.successor);
    if (next === undefined) throw fault(at.name, `there is no plan '${at.successor}' to succeed it`);
    if (passed.has(next.name)) throw fault(at.name, `it succeeds itself by way of '${next.name}'`);
    at = next;
  }
}

function fault(plan: string, reason: string): OperatorError {
  return new OperatorError(`The setting plans.offered has a plan that cannot be used, '${plan}': ${reason}.`);
}
