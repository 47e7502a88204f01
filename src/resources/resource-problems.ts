/** Kinds of errors of files that records link to. */
import type { ProblemKind } from '../platform/index.js';

export const MODEL_REQUIRED = {
  code: 'model-required',
  status: 422,
  title: 'The list has no model',
} as const satisfies ProblemKind;
