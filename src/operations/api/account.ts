/** `/account`: who am I? */
import { Type } from 'typebox';
import { keyScopeSchema, permissionsSchema } from './api-key-schemas.js';
import { defineOperation } from '../dispatch/operation.js';
import { noParams, nullable, object, timeSchema } from './schemas.js';

const accountResource = object({
  account: nullable(Type.String(), {
    description: 'Name of the account; null for the command line, which reaches all',
  }),
  region: Type.String({ description: 'Home region of the account', examples: ['eu'] }),
  key: nullable(
    object({
      name: Type.String({ description: 'What the key is for' }),
      scope: keyScopeSchema,
      scope_target: nullable(Type.String(), { description: 'The list or group of the scope' }),
      permissions: permissionsSchema,
      expires_at: nullable(timeSchema('When the key stops working by itself')),
    }),
    { description: 'The key that asked; null for a console session and the command line' },
  ),
});

export const accountRead = defineOperation({
  name: 'account.read',
  summary: 'The account and key behind the X-API-Key header',
  description: 'Open to any valid key, whatever its scope and permissions.',
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

export const accountOperations = [accountRead];
