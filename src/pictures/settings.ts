/** Settings of the reading of pictures. */
import { Type } from 'typebox';
import { defineSettings, type SettingValues } from '../platform/index.js';

const integer = (minimum: number, maximum: number) => Type.Integer({ minimum, maximum });

export const PICTURE_SETTINGS = defineSettings('pictures', {
  bytes_max: {
    schema: integer(1, 1_073_741_824),
    default: 20_000_000,
    comment: 'Bytes of one picture; a larger one is reported as too-large.',
  },
  pixels_max: {
    schema: integer(1, 268_435_456),
    default: 50_000_000,
    comment:
      'Pixels of one picture, width times height; one that claims more is not decoded, and is reported as too-large.',
  },
  seconds_max: {
    schema: integer(1, 3600),
    default: 20,
    comment: 'Seconds of processor time after which a picture that is not decoded is reported as timed-out.',
  },
  processes: {
    schema: integer(1, 64),
    default: 2,
    comment:
      'Pictures that are read at a time, each in a process of its own, which ends when there is nothing to read.',
  },
  memory_mib_max: {
    schema: integer(128, 65_536),
    default: 768,
    comment: 'Memory of each such process in MiB; a picture that needs more is reported as too-large.',
  },
});

export type PictureSettings = SettingValues<(typeof PICTURE_SETTINGS)['members']>;
