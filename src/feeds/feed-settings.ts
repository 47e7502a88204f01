/** `[feeds]` of the settings. */
import { Type } from 'typebox';
import { defineSettings, type SettingValues } from '../platform/index.js';

const integer = (minimum: number, maximum: number) => Type.Integer({ minimum, maximum });

export const FEED_SETTINGS = defineSettings('feeds', {
  feeds_max: { schema: integer(1, 100_000), default: 1000, comment: 'Feeds of one account.' },
  parallel: {
    schema: integer(1, 64),
    default: 4,
    comment:
      'Feeds that are read at a time, of all accounts, and lists that import at a time. Where runs last for ten minutes and others wait, up to twice as many feeds.',
  },
  pages_per_second: {
    schema: integer(0, 10_000),
    default: 4,
    comment:
      'Pages that a website is asked for a second at most; its robots.txt may ask for fewer. 0: as fast as it answers, for a site of your own.',
  },
  plain_http: {
    schema: Type.Boolean(),
    default: false,
    comment:
      'Websites, feeds and interfaces are read over http:// too, where anyone on the way can read and change what they say. Where they lie is checked as for https://, and no secret is sent to them.',
  },
  run_minutes_max: {
    schema: integer(1, 10_080),
    default: 360,
    comment:
      'A run that takes longer is cut short: what it has read counts, and nothing is removed for it. One that has read no record has failed.',
  },
  retry_after_seconds_max: {
    schema: integer(0, 3600),
    default: 60,
    comment: 'A source that asks to be left alone for longer is asked again in a later run.',
  },
  page_bytes_max: {
    schema: integer(65_536, 1_073_741_824),
    default: 10_485_760,
    comment: 'Of a page, unpacked; a longer one is skipped.',
  },
  answer_bytes_max: {
    schema: integer(65_536, 1_073_741_824),
    default: 104_857_600,
    comment: 'Of an RSS feed, or a page of an interface, unpacked; with a longer one the run fails.',
  },
  records_max: {
    schema: integer(1, 100_000_000),
    default: 1_000_000,
    comment: 'Records that are taken of an interface.',
  },
  source_check_seconds: {
    schema: integer(1, 86_400),
    default: 60,
    comment: 'How often files of media stores that lists are kept in sync with are looked at.',
  },
});

export type FeedSettings = SettingValues<typeof FEED_SETTINGS.members>;
