/** Settings of the files that records link to. */
import { Type } from 'typebox';
import { defineSettings, type SettingValues } from '../platform/index.js';

const integer = (minimum: number, maximum: number) => Type.Integer({ minimum, maximum });

export const RESOURCE_SETTINGS = defineSettings('resources', {
  check_hours: {
    schema: integer(1, 8760),
    default: 24,
    comment: 'Hours after which a file that records link to is checked again, and read if it has changed.',
  },
  parallel: { schema: integer(1, 256), default: 4, comment: 'Files that are fetched or read at a time, of all lists.' },
  parallel_per_list: { schema: integer(1, 256), default: 4, comment: 'The same for one list.' },
  connections_per_host: {
    schema: integer(1, 64),
    default: 2,
    comment: 'Connections to one host at a time for the files that records link to.',
  },
  fetch_seconds: {
    schema: integer(1, 3600),
    default: 120,
    comment: 'Seconds in which a file has to be fetched, all redirects included.',
  },
  retry_seconds: {
    schema: Type.Array(integer(1, 86_400), { maxItems: 20 }),
    default: [10, 60, 600],
    comment:
      'Seconds before a file is tried again whose host does not answer. After the last one, it waits for its next check.',
  },
  frame_seconds: {
    schema: integer(1, 3600),
    default: 10,
    comment: 'Seconds between the frames of a video that are compared as pictures are, in lists with an image_model.',
  },
  frames_max: {
    schema: integer(0, 1000),
    default: 360,
    comment: 'Frames that are read of one video, from its beginning. 0: none.',
  },
  frames_seconds_max: {
    schema: integer(1, 86_400),
    default: 300,
    comment: 'Seconds of processor time for the decoding of one video; the frames decoded by then are searched.',
  },
  frames_memory_mib_max: {
    schema: integer(64, 65_536),
    default: 768,
    comment: 'Memory of the process that decodes a video in MiB; a video that needs more is reported as too-large.',
  },
  frames_parallel: {
    schema: integer(1, 64),
    default: 1,
    comment: 'Videos whose frames are read at a time, of all lists.',
  },
  shared_mib_max: {
    schema: integer(0, 1_048_576),
    default: 2048,
    comment:
      'MiB on the disk for videos and audio files that have to be read once more for something else, so that each is fetched only once. Beyond that, they are fetched again.',
  },
  ffmpeg: {
    schema: Type.String({ maxLength: 4096, path: 'program' }),
    default: 'ffmpeg',
    comment: 'The program that decodes videos: a path, or a name to be found in PATH. Without it, no frames are read.',
  },
});

export type ResourceSettings = SettingValues<(typeof RESOURCE_SETTINGS)['members']>;
