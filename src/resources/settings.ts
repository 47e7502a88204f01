/** Settings of the files that records link to. */
import { Type } from 'typebox';
import { defineSettings, type SettingValues } from '../platform/index.js';

const integer = (minimum: number, maximum: number) => Type.Integer({ minimum, maximum });

export const RESOURCE_SETTINGS = defineSettings('resources', {
  check_hours: {
    schema: integer(1, 8760),
    default: 24,
    comment: 'Hours after which a file that records link to is looked at again, and read where it has changed.',
  },
  parallel: { schema: integer(1, 256), default: 4, comment: 'Files that are fetched or read at a time, of all lists.' },
  parallel_per_list: { schema: integer(1, 256), default: 4, comment: 'The same of one list.' },
  connections_per_host: {
    schema: integer(1, 64),
    default: 2,
    comment: 'Connections to one host at a time for the files that records link to.',
  },
  fetch_seconds: {
    schema: integer(1, 3600),
    default: 120,
    comment: 'Seconds in which a file has to be there, with all redirects.',
  },
  retry_seconds: {
    schema: Type.Array(integer(1, 86_400), { maxItems: 20 }),
    default: [10, 60, 600],
    comment:
      'Seconds before a file is tried again whose host does not answer; after the last it waits for its next look.',
  },
});

export type ResourceSettings = SettingValues<(typeof RESOURCE_SETTINGS)['members']>;
