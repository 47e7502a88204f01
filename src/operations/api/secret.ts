/** `/secret`: the key that seals secrets on disk. */
import { Type } from 'typebox';
import { OperatorError, ServiceError } from '../../platform/index.js';
import { defineOperation, type Operation } from '../dispatch/operation.js';
import { noParams, object } from './schemas.js';

const rotate = defineOperation({
  name: 'secret.rotate',
  summary: 'Seal all secrets with a new key',
  description:
    'Makes a new key, seals every secret on disk with it, and forgets the old key. The secrets themselves stay the same. If keys come from the settings, replace them there instead.',
  method: 'POST',
  path: '/secret/rotate',
  permission: null,
  // Affects the secrets of every account, so no account may order it.
  callers: ['cli'],
  target: 'none',
  params: noParams,
  responses: {
    200: {
      description: 'How many secrets were sealed anew',
      schema: object({ resealed: Type.Integer({ minimum: 0 }) }),
    },
  },
  errors: ['conflict', 'storage-full'],
  async handle({ services }) {
    try {
      return { status: 200, body: { resealed: await services.secrets.rotate() } };
    } catch (error) {
      throw error instanceof OperatorError ? new ServiceError('conflict', error.message) : error;
    }
  },
});

const check = defineOperation({
  name: 'secret.check',
  summary: 'List the secrets that cannot be opened',
  description:
    'Names everything whose secret is sealed with a key that is neither in `secret-keys` of the data directory nor in the settings. It cannot work until the key is back or the secret is given again.',
  method: 'GET',
  path: '/secret/check',
  permission: null,
  callers: ['cli'],
  target: 'none',
  params: noParams,
  responses: {
    200: {
      description: 'What has such a secret',
      schema: object({ unreadable: Type.Array(Type.String()) }),
    },
  },
  handle: ({ services }) => ({ status: 200, body: { unreadable: [...services.secrets.lost()] } }),
});

export const secretOperations: readonly Operation[] = [rotate, check];
