/** Settings of the reading of video and audio files. */
import { Type } from 'typebox';
import { defineSettings, type SettingValues } from '../platform/index.js';

const integer = (minimum: number, maximum: number) => Type.Integer({ minimum, maximum });

export const RECORDING_SETTINGS = defineSettings('recordings', {
  bytes_max: {
    schema: integer(1, 1_073_741_824),
    default: 100_000_000,
    comment: 'Bytes of one video or audio file; a larger one is reported as too-large.',
  },
  subtitle_bytes_max: {
    schema: integer(1, 100_000_000),
    default: 10_000_000,
    comment: 'Bytes of a file of subtitles beside it; a larger one is ignored.',
  },
  transcription_bytes_max: {
    schema: integer(1000, 1_073_741_824),
    default: 25_000_000,
    comment: 'Bytes of sound that are sent to a model in one request; longer WAV and MP3 files are cut into pieces.',
  },
  transcriptions: {
    schema: integer(1, 64),
    default: 2,
    comment: 'Recordings of one list that are transcribed at a time.',
  },
  transcription_retry_seconds: {
    schema: Type.Array(integer(1, 86_400), { maxItems: 20 }),
    default: [10, 60, 600, 3600, 14_400, 43_200],
    comment:
      'Seconds before a model that was away is asked again. After the last one, it is asked when the file is next checked.',
  },
  cues_max: {
    schema: integer(1, 1_000_000),
    default: 100_000,
    comment: 'Lines of subtitles, chapters and tags that are read of one file.',
  },
  characters_max: {
    schema: integer(1, 100_000_000),
    default: 2_000_000,
    comment: 'Characters of all of these together.',
  },
  seconds_max: {
    schema: integer(1, 3600),
    default: 30,
    comment:
      'Seconds in which the words of one file have to be read; a file that takes longer is reported as timed-out.',
  },
  processes: {
    schema: integer(1, 64),
    default: 2,
    comment: 'Files that are read at a time, each in a process of its own, which ends when there is nothing to read.',
  },
  memory_mib_max: {
    schema: integer(128, 65_536),
    default: 768,
    comment: 'Memory of each such process in MiB; a file that needs more is reported as too-large.',
  },
});

export type RecordingSettings = SettingValues<(typeof RECORDING_SETTINGS)['members']>;
