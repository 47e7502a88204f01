/** `/secret`: the key that seals secrets on disk. */
import { Type } from 'typebox';
import { OperatorError, ServiceError } from '../../platform/index.js';
import { defineOperation, type Operation } from '../dispatch/operation.js';
import { noParams, object } from './schemas.js';

const rotate = defineOperation({
  name: 'secret.rotate',
  summary: 'Encrypt all secrets with a new key',
  description:
    'Creates a new encryption key, encrypts every secret on disk with it, and discards the old key. The secrets themselves do not change. If the encryption keys come from the settings of the service, replace them there instead.',
  method: 'POST',
  path: '/secret/rotate',
  permission: null,
  // Affects the secrets of every account, so no account may order it.
  callers: ['cli'],
  target: 'none',
  params: noParams,
  responses: {
    200: {
      description: 'The secrets were encrypted again',
      schema: object({
        resealed: Type.Integer({ minimum: 0, description: 'Number of secrets that were encrypted again' }),
      }),
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
  summary: 'List the secrets that cannot be decrypted',
  description:
    'Lists everything whose secret is encrypted with a key that is neither in `secret-keys` of the data directory nor in the settings. It cannot work until that key is back, or the secret is given again.',
  method: 'GET',
  path: '/secret/check',
  permission: null,
  callers: ['cli'],
  target: 'none',
  params: noParams,
  responses: {
    200: {
      description: 'What has a secret that cannot be decrypted',
      schema: object({
        unreadable: Type.Array(Type.String(), { description: 'What has such a secret, such as a webhook or a feed' }),
      }),
    },
  },
  handle: ({ services }) => ({ status: 200, body: { unreadable: [...services.secrets.lost()] } }),
});

export const secretOperations: readonly Operation[] = [rotate, check];
