/** Pictures as a feature: finding pictures by pictures. */
import type { Feature } from '../operations/index.js';
import { PICTURE_SETTINGS } from './settings.js';

export const pictures: Feature = {
  name: 'pictures',
  settings: PICTURE_SETTINGS,
  load: async () => (await import('./picture-parts.js')).pictureParts,
};
