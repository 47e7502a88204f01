/** `/plan`: limits of an account, and what it uses of them. */
import { Type } from 'typebox';
import { accountParams, defineOperation, noParams, nullable, named, object, timeSchema } from '../operations/index.js';
import { PLANS } from './part.js';
import type { Plans } from './plans.js';
import { LIMITS, UNLIMITED, type Limit, type Plan } from './types.js';

const CALLERS = ['key', 'console', 'cli'] as const;

const LIMIT_DESCRIPTIONS: Readonly<Record<Limit, string>> = {
  records: 'Number of records in the current versions of all lists',
  storage_bytes: 'Bytes on disk, for lists and the built-in media store',
  searches_a_month: 'Number of searches since the month began (UTC). Further pages of a search are not counted',
  lists: 'Number of lists',
  feeds: 'Number of feeds',
};

const planName = Type.String({ description: 'Name of the plan. The plan `default` has no limits', examples: ['free'] });
const allowed = (description: string) => nullable(Type.Integer({ minimum: 0 }), { description });

const limitMembers = Object.fromEntries(
  LIMITS.map((limit) => [limit, allowed(`${LIMIT_DESCRIPTIONS[limit]}; null: no limit`)]),
);
const planResource = named(
  'Plan',
  {
    name: planName,
    limits: object(limitMembers, { description: 'Limits of the plan' }),
    successor: nullable(Type.String(), {
      description:
        'Name of the plan that an account is moved to near a limit of this one (see the setting `plans.upgrade_percent`). Null: none',
    }),
  },
  { description: 'A plan: limits for an account' },
);

const usage = (description: string) =>
  object(
    {
      used: Type.Integer({ minimum: 0, description: 'What the account uses' }),
      limit: allowed('Limit of the plan. Null: no limit'),
    },
    { description },
  );
const usageResource = named(
  'Usage',
  {
    plan: planName,
    since_utc: nullable(timeSchema('Time since which the account has been on the plan'), {
      description: 'Time since which the account has been on the plan. Null: since it was created',
    }),
    successor: nullable(Type.String(), {
      description:
        'Name of the plan that an account is moved to near a limit of this one (see the setting `plans.upgrade_percent`). Null: none',
    }),
    usage: object(Object.fromEntries(LIMITS.map((limit) => [limit, usage(LIMIT_DESCRIPTIONS[limit])])), {
      description: 'What the account uses, and the limits of its plan',
    }),
  },
  { description: 'The plan of an account, and what the account uses of it' },
);

const list = defineOperation({
  name: 'plan.list',
  summary: 'List the available plans',
  description: 'Lists the plan `default`, which has no limits, then those that the settings of the service define.',
  method: 'GET',
  path: '/plan',
  permission: null,
  callers: CALLERS,
  target: 'none',
  params: noParams,
  responses: {
    200: {
      description: 'The plans',
      schema: object({
        plans: Type.Array(planResource, { description: 'The plans' }),
        sign_up: Type.String({
          description:
            'Name of the plan of the accounts of people who sign up by themselves (see the setting `plans.sign_up`). Accounts that the operator creates begin on the plan `default`',
          examples: ['free'],
        }),
      }),
    },
  },
  handle({ services }) {
    const { offered, planOfNewcomers } = services.part(PLANS);
    return { status: 200, body: { plans: [UNLIMITED, ...offered].map(describePlan), sign_up: planOfNewcomers } };
  },
});

const read = defineOperation({
  name: 'plan.read',
  summary: 'Read the plan of an account and what it uses',
  description:
    'Records, lists and feeds are counted exactly. The bytes on disk are measured after each commit of a list. The count of searches is stored every few seconds.',
  method: 'GET',
  path: '/plan/{account}',
  permission: 'account:read',
  callers: CALLERS,
  target: 'account',
  params: accountParams,
  responses: { 200: { description: 'The plan and what the account uses', schema: usageResource } },
  handle: async ({ services }, { params: { account } }) => ({
    status: 200,
    body: await describeUsage(services.part(PLANS).plans, account),
  }),
});

const set = defineOperation({
  name: 'plan.set',
  summary: 'Put an account on a plan',
  description:
    "Takes effect with the next write. An account that exceeds the new plan keeps what it has, but cannot add to it. If the account is near a limit of the plan, it is moved to the plan's `successor` at once.",
  method: 'PUT',
  path: '/plan/{account}',
  permission: null,
  callers: ['cli'],
  target: 'account',
  params: accountParams,
  body: object({ plan: planName }),
  responses: { 200: { description: 'The plan and what the account uses', schema: usageResource } },
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
