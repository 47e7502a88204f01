/** Kinds of errors of searches by a picture. */
import type { ProblemKind } from '../platform/index.js';

export const IMAGE_MODEL_REQUIRED = {
  code: 'image-model-required',
  status: 422,
  title: 'The pictures of the list are not searched',
} as const satisfies ProblemKind;

export const PICTURE_UNREADABLE = {
  code: 'picture-unreadable',
  status: 422,
  title: 'The picture cannot be used for a search',
} as const satisfies ProblemKind;

export const IMAGE_MODEL_UNAVAILABLE = {
  code: 'image-model-unavailable',
  status: 503,
  title: 'The model for pictures does not answer',
} as const satisfies ProblemKind;
