/** Kinds of errors that only analytics has. */
import type { ProblemKind } from '../platform/index.js';

export const ANALYTICS_UNAVAILABLE = {
  code: 'analytics-unavailable',
  status: 503,
  title: 'The analytics storage is unavailable or slow',
} as const satisfies ProblemKind;
