/** Settings of media stores. */
import { Type } from 'typebox';
import { defineSettings, type SettingValues } from '../platform/index.js';

const integer = (minimum: number, maximum: number) => Type.Integer({ minimum, maximum });

export const MEDIA_SETTINGS = defineSettings('media', {
  default_store_bytes_max: {
    schema: integer(0, 1_099_511_627_776),
    default: 100_000_000,
    comment:
      'Bytes of all files in the media store "default", which every account has; a file that does not fit is answered 507.',
  },
  default_store_files_max: {
    schema: integer(1, 10_000_000),
    default: 100_000,
    comment: 'Files in the media store "default" of an account.',
  },
  file_bytes_max: {
    schema: integer(1, 1_099_511_627_776),
    default: 5_368_709_120,
    comment: 'Bytes of one file in any media store (413 beyond).',
  },
  stores_max: { schema: integer(1, 10_000), default: 100, comment: 'Media stores of one account beside "default".' },
  folders: {
    schema: Type.Array(Type.String({ minLength: 1, maxLength: 4096, path: 'file' }), { maxItems: 100 }),
    default: [],
    comment:
      'Folders of this machine in or below which accounts may have media stores. None: no account may have one there.',
  },
});

export type MediaSettings = SettingValues<(typeof MEDIA_SETTINGS)['members']>;
