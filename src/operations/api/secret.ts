/** `/secret`: what keeps the secrets on disk. */
import { Type } from 'typebox';
import { OperatorError, ServiceError } from '../../platform/index.js';
import { defineOperation, type Operation } from '../dispatch/operation.js';
import { noParams, object } from './schemas.js';

const rotate = defineOperation({
  name: 'secret.rotate',
  summary: 'Seal all secrets anew',
  description:
    'Makes a new key, seals every secret on disk by it, and forgets the key before. The secrets themselves stay as they are. Where keys come from the settings, they are replaced there.',
  method: 'POST',
  path: '/secret/rotate',
  permission: null,
  // Those of every account: none of them may order it for the others.
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

export const secretOperations: readonly Operation[] = [rotate];
