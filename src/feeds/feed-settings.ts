/** Section `[feeds]` of the settings. */
import { Type } from 'typebox';
import { defineSettings, type SettingValues } from '../platform/index.js';

const integer = (minimum: number, maximum: number) => Type.Integer({ minimum, maximum });

export const FEED_SETTINGS = defineSettings('feeds', {
  feeds_max: { schema: integer(1, 100_000), default: 1000, comment: 'Feeds of one account.' },
  parallel: {
    schema: integer(1, 64),
    default: 4,
    comment:
      'Feeds that are read at a time, of all accounts, and lists that import at a time. If runs last for ten minutes and others wait, up to twice as many feeds.',
  },
  pages_per_second: {
    schema: integer(0, 10_000),
    default: 4,
    comment:
      'Most pages a second that are requested from a website; its robots.txt may ask for fewer. 0: as fast as it answers, for a site of your own.',
  },
  plain_http: {
    schema: Type.Boolean(),
    default: false,
    comment:
      'Whether websites, feeds and interfaces are also read over http://, where anyone on the way can read and change what they say. Their addresses are checked as for https://, and no secret is sent to them.',
  },
  run_minutes_max: {
    schema: integer(1, 10_080),
    default: 360,
    comment:
      'A run that takes longer is cut short: what it has read counts, and no record is removed because of it. If it has read no record, it has failed.',
  },
  retry_after_seconds_max: {
    schema: integer(0, 3600),
    default: 60,
    comment:
      'Longest wait that a source may ask for within a run. If it asks for a longer one, a later run tries again.',
  },
  page_bytes_max: {
    schema: integer(65_536, 1_073_741_824),
    default: 10_485_760,
    comment: 'Largest page, unpacked, in bytes; a larger one is skipped.',
  },
  answer_bytes_max: {
    schema: integer(65_536, 1_073_741_824),
    default: 104_857_600,
    comment: 'Largest RSS feed, or page of an interface, unpacked, in bytes; with a larger one, the run fails.',
  },
  records_max: {
    schema: integer(1, 100_000_000),
    default: 1_000_000,
    comment: 'Most records that are taken from an interface.',
  },
  source_check_seconds: {
    schema: integer(1, 86_400),
    default: 60,
    comment: 'How often the service checks files of media stores that lists are kept in sync with.',
  },
});

export type FeedSettings = SettingValues<typeof FEED_SETTINGS.members>;
