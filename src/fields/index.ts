/** What fields can hold: the kinds of values, with everything that the service knows of each. */
export type { FieldKind, SeenValues, WrittenValue } from './field-kind.js';
export { FIELD_KINDS, fieldKind, type FacetType } from './field-kinds.js';
export * from './field-values.js';
export { asMediaUrl, isMediaUrl, mediaPlace, mediaUrl, type MediaPlace } from './media-url.js';
export { NO_DATE } from './kinds/date-kind.js';
export { isNumberCell, numberKind } from './kinds/number-kind.js';
export { RESOURCE_KINDS, resourceKindOf, type ResourceKind } from './resource-kinds.js';
