/** Kinds of errors that only feeds and sources of lists have. */
import type { ProblemKind } from '../platform/index.js';

export const FEED_NOT_FOUND = {
  code: 'feed-not-found',
  status: 404,
  title: 'There is no such feed',
} as const satisfies ProblemKind;
export const FEED_SYNCING = {
  code: 'feed-syncing',
  status: 409,
  title: 'The feed is being synced',
} as const satisfies ProblemKind;
export const FEED_IN_USE = {
  code: 'feed-in-use',
  status: 409,
  title: 'The feed is searchable in another list',
} as const satisfies ProblemKind;
export const SOURCE_UNUSABLE = {
  code: 'source-unusable',
  status: 422,
  title: 'The source cannot be read',
} as const satisfies ProblemKind;
export const ALREADY_IMPORTING = {
  code: 'already-importing',
  status: 409,
  title: 'The list already imports something else',
} as const satisfies ProblemKind;
export const NO_SOURCE = {
  code: 'source-not-found',
  status: 404,
  title: 'The list does not import anything',
} as const satisfies ProblemKind;
