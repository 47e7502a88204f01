/** Kinds of errors that only webhooks have. */
import type { ProblemKind } from '../platform/index.js';

export const WEBHOOK_NOT_FOUND = {
  code: 'webhook-not-found',
  status: 404,
  title: 'There is no such webhook',
} as const satisfies ProblemKind;
