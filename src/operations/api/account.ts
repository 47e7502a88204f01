/** `/account`: the caller's account, and the management of accounts. */
import { Type } from 'typebox';
import { keyScopeSchema, permissionsSchema } from './api-key-schemas.js';
import { defineOperation } from '../dispatch/operation.js';
import { finishWork } from '../dispatch/unfinished-work.js';
import {
  accountName,
  accountParams,
  nextOf,
  nextPage,
  noParams,
  nullable,
  named,
  object,
  pageQuery,
  regionSchema,
  timeSchema,
  wantedPage,
} from './schemas.js';

const accountResource = object({
  account: nullable(Type.String(), {
    description: 'Name of the account. Null for the command line, which reaches all accounts',
  }),
  region: Type.String({ description: 'Home region of the account', examples: ['eu'] }),
  key: nullable(
    object({
      name: Type.String({ description: 'Name of the key, which says what it is for' }),
      scope: keyScopeSchema,
      scope_target: nullable(Type.String(), {
        description: 'Name of the list or group that the key reaches. Null for the scope `account`',
      }),
      permissions: permissionsSchema,
      expires_at: nullable(timeSchema('Time at which the key stops working. Null if it does not expire')),
    }),
    { description: 'The key that made the request. Null for a console session and for the command line' },
  ),
});

export const accountRead = defineOperation({
  name: 'account.read',
  summary: 'Read the account and the key of the request',
  description:
    'Says which account and which list or group the key in `X-API-Key` reaches, and what it may do. Any valid key may call it, whatever its scope and permissions.',
  method: 'GET',
  path: '/account',
  permission: null,
  callers: ['key', 'console', 'cli'],
  target: 'none',
  params: noParams,
  responses: { 200: { description: 'The account and the key', schema: accountResource } },
  handle({ services, caller }) {
    const account = caller.account === undefined ? undefined : services.catalog.account(caller.account);
    const { key } = caller;
    return {
      status: 200,
      body: {
        account: caller.account ?? null,
        region: account?.region ?? services.config.account.region,
        key:
          key === undefined
            ? null
            : {
                name: key.name,
                scope: key.scope,
                scope_target: key.scope_target,
                permissions: key.permissions,
                expires_at: key.expires_at,
              },
      },
    };
  },
});

const account = named(
  'Account',
  {
    name: accountName,
    region: Type.String({ description: 'Home region of the account', examples: ['eu'] }),
    created_utc: timeSchema('Time at which the account was created'),
  },
  { description: 'An account: lists, keys, people and files that belong together' },
);

const accountList = defineOperation({
  name: 'account.list',
  summary: 'List all accounts of this service',
  method: 'GET',
  path: '/account/all',
  permission: null,
  callers: ['cli'],
  target: 'none',
  params: noParams,
  query: pageQuery,
  responses: {
    200: {
      description: 'The accounts, sorted by name',
      schema: object({ accounts: Type.Array(account, { description: 'The accounts' }), next: nextPage }),
    },
  },
  handle({ services }, { query }) {
    const page = services.catalog.accountPage(wantedPage(query));
    return { status: 200, body: { accounts: page.entries, ...nextOf(page) } };
  },
});

const accountCreate = defineOperation({
  name: 'account.create',
  summary: 'Create an account',
  description: 'The account is empty. Keys, lists and people of one account are not visible to another.',
  method: 'POST',
  path: '/account',
  permission: null,
  callers: ['cli'],
  target: 'none',
  params: noParams,
  body: object({
    name: accountName,
    region: Type.Optional(regionSchema('Home region of the account; default: the region of this machine')),
  }),
  responses: { 201: { description: 'The account', schema: account } },
  errors: ['invalid-name', 'name-exists', 'conflict', 'storage-full'],
  handle: async ({ services }, { body }) => ({
    status: 201,
    body: await services.catalog.createAccount(body.name, body.region ?? services.config.account.region),
  }),
});

const accountDelete = defineOperation({
  name: 'account.delete',
  summary: 'Delete an account and everything in it',
  description:
    'Deletes its lists with their records, groups, analytics, feeds, files, models, API keys, webhooks, and the roles of people in it. This cannot be undone.',
  method: 'DELETE',
  path: '/account/{account}',
  permission: null,
  callers: ['cli'],
  target: 'account',
  params: accountParams,
  responses: { 204: { description: 'The account was deleted', schema: null } },
  errors: ['storage-full'],
  async handle({ services }, { params }) {
    const works = await services.catalog.deleteAccount(params.account);
    for (const work of works) await finishWork(services, work);
    return { status: 204 };
  },
});

export const accountOperations = [accountRead, accountList, accountCreate, accountDelete];
