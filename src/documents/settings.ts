/** Settings of the reading of documents. */
import { Type } from 'typebox';
import { defineSettings, type SettingValues } from '../platform/index.js';

const integer = (minimum: number, maximum: number) => Type.Integer({ minimum, maximum });

export const DOCUMENT_SETTINGS = defineSettings('documents', {
  bytes_max: {
    schema: integer(1, 1_073_741_824),
    default: 100_000_000,
    comment: 'Bytes of one document; a larger one is reported as too-large.',
  },
  pages_max: {
    schema: integer(1, 100_000),
    default: 200,
    comment: 'Pages that are read of one document, from the first one.',
  },
  characters_max: {
    schema: integer(1, 100_000_000),
    default: 2_000_000,
    comment: 'Characters of all pages that are read of one document.',
  },
  seconds_max: {
    schema: integer(1, 3600),
    default: 60,
    comment:
      'Seconds of processor time after which no further page of a document is begun. A document that is not done soon after is reported as timed-out.',
  },
  processes: {
    schema: integer(1, 64),
    default: 2,
    comment:
      'Documents that are read at a time, each in a process of its own, which ends when there is nothing to read.',
  },
  memory_mib_max: {
    schema: integer(128, 65_536),
    default: 512,
    comment: 'Memory of each such process in MiB; a document that needs more is reported as too-large.',
  },
});

export type DocumentSettings = SettingValues<(typeof DOCUMENT_SETTINGS)['members']>;
