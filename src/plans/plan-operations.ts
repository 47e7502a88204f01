/** `/plan`: limits of an account, and what it uses of them. */
import { Type } from 'typebox';
import { accountParams, defineOperation, noParams, nullable, named, object, timeSchema } from '../operations/index.js';
import { PLANS } from './part.js';
import type { Plans } from './plans.js';
import { LIMITS, UNLIMITED, type Limit, type Plan } from './types.js';

const CALLERS = ['key', 'console', 'cli'] as const;

const LIMIT_DESCRIPTIONS: Readonly<Record<Limit, string>> = {
  records: 'Records of the current versions of all lists',
  storage_bytes: 'Bytes on disk: files of the lists and of the built-in media store',
  searches_a_month: 'Searches since the month began (UTC); further pages of one are the same search',
  lists: 'Lists',
  feeds: 'Feeds',
};

const planName = Type.String({ description: "Name of the plan; 'default' has no limits", examples: ['free'] });
const allowed = (description: string) => nullable(Type.Integer({ minimum: 0 }), { description });

const limitMembers = Object.fromEntries(
  LIMITS.map((limit) => [limit, allowed(`${LIMIT_DESCRIPTIONS[limit]}; null: without a limit`)]),
);
const planResource = named('Plan', {
  name: planName,
  limits: object(limitMembers),
  successor: nullable(Type.String(), { description: 'The plan that takes its place near a limit' }),
});

const usage = (description: string) =>
  object(
    {
      used: Type.Integer({ minimum: 0, description: 'What the account has' }),
      limit: allowed('What its plan lets it have; null: without a limit'),
    },
    { description },
  );
const usageResource = named('Usage', {
  plan: planName,
  since_utc: nullable(timeSchema('Since when the account is on the plan'), {
    description: 'Null: since the account was created',
  }),
  successor: nullable(Type.String(), { description: 'The plan that takes its place near a limit' }),
  usage: object(Object.fromEntries(LIMITS.map((limit) => [limit, usage(LIMIT_DESCRIPTIONS[limit])]))),
});

const list = defineOperation({
  name: 'plan.list',
  summary: 'The available plans',
  description: "As the settings offer them, behind 'default', which has no limits.",
  method: 'GET',
  path: '/plan',
  permission: null,
  callers: CALLERS,
  target: 'none',
  params: noParams,
  responses: { 200: { description: 'The plans', schema: object({ plans: Type.Array(planResource) }) } },
  handle: ({ services }) => ({
    status: 200,
    body: { plans: [UNLIMITED, ...services.part(PLANS).offered].map(describePlan) },
  }),
});

const read = defineOperation({
  name: 'plan.read',
  summary: "The account's plan, and what it has used of it",
  description:
    'Records, lists and feeds are counted exactly. What lists take on disk is measured after their commits; the count of searches is stored every few seconds.',
  method: 'GET',
  path: '/plan/{account}',
  permission: 'account:read',
  callers: CALLERS,
  target: 'account',
  params: accountParams,
  responses: { 200: { description: 'Plan and usage', schema: usageResource } },
  handle: async ({ services }, { params: { account } }) => ({
    status: 200,
    body: await describeUsage(services.part(PLANS).plans, account),
  }),
});

const set = defineOperation({
  name: 'plan.set',
  summary: 'Put an account on a plan',
  description:
    'Takes effect with the next write. An account that has more than the plan allows keeps what it has, but cannot add to it. Near a limit of the plan, its successor takes its place at once.',
  method: 'PUT',
  path: '/plan/{account}',
  permission: null,
  callers: ['cli'],
  target: 'account',
  params: accountParams,
  body: object({ plan: planName }),
  responses: { 200: { description: 'Plan and usage', schema: usageResource } },
  errors: ['account-not-found', 'unprocessable', 'storage-full'],
  async handle({ services }, { params: { account }, body }) {
    const { plans } = services.part(PLANS);
    await plans.subscriptions.set(account, body.plan);
    await plans.consider(account);
    return { status: 200, body: await describeUsage(plans, account) };
  },
});

function describePlan({ name, limits, successor }: Plan) {
  const all = Object.fromEntries(LIMITS.map((limit) => [limit, limits[limit] ?? null]));
  return { name, limits: all, successor: successor ?? null };
}

async function describeUsage(plans: Plans, account: string) {
  const { plan, since_utc } = plans.subscriptions.of(account);
  const usages = await Promise.all(
    LIMITS.map(async (limit) => {
      const used = await plans.used(account, limit);
      return [limit, { used, limit: plan.limits[limit] ?? null }] as const;
    }),
  );
  return { plan: plan.name, since_utc, successor: plan.successor ?? null, usage: Object.fromEntries(usages) };
}

export const planOperations = [list, read, set];
