/** Media stores as a feature: files of an account in the data directory, in a folder of the machine, or in a bucket. */
import type { Feature } from '../operations/index.js';
import { MEDIA_SETTINGS } from './settings.js';
import { sealedOf } from './store-kinds.js';
import type { StoreRow } from './types.js';

export const media: Feature = {
  name: 'media',
  settings: MEDIA_SETTINGS,
  events: {
    'media.uploaded': { description: 'A file was uploaded to a media store' },
    'media.deleted': { description: 'A file was deleted from a media store' },
    'media-store.created': { description: 'A media store was added' },
    'media-store.deleted': { description: 'A media store was removed' },
  },
  sealed: [
    {
      collection: 'media-stores',
      called: 'media store',
      sealedOf: ({ settings }: StoreRow) => [sealedOf(settings)],
    },
  ],
  load: async () => (await import('./media-parts.js')).mediaParts,
};
