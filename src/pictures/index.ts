/** Untrusted pictures: decoded in separate processes, and described by a vector. */
export { BUILT_IN_PICTURES } from './built-in-pictures.js';
export { PICTURES } from './picture-parts.js';
export type { PictureReader } from './picture-reader.js';
export { PICTURE_SETTINGS, type PictureSettings } from './settings.js';
export * from './types.js';
