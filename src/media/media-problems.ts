/** Kinds of errors specific to media stores. */
import type { ProblemKind } from '../platform/index.js';

export const MEDIA_STORE_NOT_FOUND = {
  code: 'media-store-not-found',
  status: 404,
  title: 'There is no such media store',
} as const satisfies ProblemKind;

export const FILE_NOT_FOUND = {
  code: 'file-not-found',
  status: 404,
  title: 'There is no such file',
} as const satisfies ProblemKind;

export const STORE_IN_USE = {
  code: 'store-in-use',
  status: 409,
  title: 'The media store is in use',
} as const satisfies ProblemKind;

export const STORE_UNAVAILABLE = {
  code: 'store-unavailable',
  status: 503,
  title: 'The media store does not answer',
} as const satisfies ProblemKind;

export const STORE_FULL = {
  code: 'store-full',
  status: 507,
  title: 'The media store is full',
} as const satisfies ProblemKind;
