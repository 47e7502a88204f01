/** Schemas of records. */
import { Type } from 'typebox';
import { RECORD_NAME_CHARACTERS_MAX } from '../../platform/index.js';
import { VECTOR_DIMENSIONS_MAX } from '../../records/index.js';
import { nullable, named, object, recordName, timeSchema } from './schemas.js';

const fieldValue = Type.Union(
  [
    Type.String(),
    Type.Number(),
    Type.Boolean(),
    Type.Array(Type.Union([Type.String(), Type.Number(), Type.Boolean()])),
    object({
      latitude: Type.Number({ description: 'In degrees' }),
      longitude: Type.Number({ description: 'In degrees' }),
    }),
  ],
  {
    description:
      'A string, a number, a boolean, an array of these, or a point. The value of a facet is always an array. An integer with more digits than ' +
      'a double can hold is kept as a string of its digits; in a facet of numbers it is rounded',
  },
);

const RECORD_ID = {
  description: 'Id of the record, assigned by the service',
  examples: ['019390ab-7f1e-7c3a-8b52-0f4a1c2d3e4f'],
} as const;
export const recordId = Type.String({ minLength: 1, maxLength: 64, ...RECORD_ID });
/** Id in a path. A name is accepted here too, so that the error can say which id was meant. */
export const givenRecordId = Type.String({ minLength: 1, maxLength: RECORD_NAME_CHARACTERS_MAX, ...RECORD_ID });

export const recordSource = Type.String({
  description:
    'Source that keeps the record in sync: `feed:<name>` for a feed, `media:<store>/<path>` for another file. Absent if the record has no such source',
  examples: ['feed:news'],
});

export const recordResource = named(
  'StoredRecord',
  {
    id: recordId,
    name: recordName,
    fields: Type.Record(Type.String(), fieldValue, { description: 'Fields of the record, by name' }),
    as_of: timeSchema('Time at which the record was last written, or synced from its source'),
    source: Type.Optional(recordSource),
    created_utc: timeSchema('Time at which the record was created'),
    modified_utc: timeSchema('Time at which the record was last written'),
  },
  { description: 'A record' },
);

const vector = Type.Array(Type.Number(), { minItems: 1, maxItems: VECTOR_DIMENSIONS_MAX });

/** A record in a page of records. */
export const recordWithVectors = named(
  'RecordWithVectors',
  {
    ...recordResource.properties,
    vector: Type.Optional({
      ...vector,
      description: 'The vector of the record, if it has one; only with `vectors=true`',
    }),
    vectors: Type.Optional(
      Type.Array(vector, {
        description: 'The vectors of the record, one for each passage, if it has several; only with `vectors=true`',
      }),
    ),
  },
  { description: 'A record, with its vectors if they were requested' },
);

/** Takes the place of a record that cannot be read. */
export const damagedRecord = named(
  'DamagedRecord',
  {
    id: nullable(Type.String(), { description: 'Id of the record. Null if it cannot be read' }),
    error: Type.String({ description: 'Why the record is not returned' }),
  },
  { description: 'Stands for a record that is damaged on disk, or longer than `bytes_max`' },
);

/** Permissive on purpose: a flat record has members of any name, and the validation of records reports faults. */
export const recordInput = Type.Object(
  {},
  {
    additionalProperties: true,
    description:
      'A record, nested or flat. Nested: `{"name", "fields": {…}}`, and if needed `as_of`, `vector` or `vectors`. Flat: every member except `name` is a field, even `id`. A name has 1 to 512 characters; without one, the record gets its id as name. A value is a string, a number, a boolean, an array of these, a point `{"latitude", "longitude"}`, or null for none. Halves of surrogate pairs in texts become U+FFFD.\n\nVectors are for lists whose model is of the provider `own`: POST and PUT replace them, PATCH keeps them if none are given, null removes them.\n\nA nested record may have `id`, `source`, `created_utc` and `modified_utc` as they were read; they change nothing. With POST and bulk, an `id` needs the `name` of its record',
    examples: [
      { name: 'film-17', fields: { title: 'The Gannet', year: 1983 } },
      { name: 'film-17', title: 'The Gannet' },
    ],
  },
);
