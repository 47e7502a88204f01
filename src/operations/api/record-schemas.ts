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
    object({ latitude: Type.Number(), longitude: Type.Number() }),
  ],
  {
    description:
      'A string, a number, a boolean, an array of these, or a point. Facet values are always arrays. An integer of more digits than a double ' +
      'holds is kept as a string of its digits; in a facet of numbers it is rounded.',
  },
);

const RECORD_ID = {
  description: 'Id of the record, made by the service',
  examples: ['019390ab-7f1e-7c3a-8b52-0f4a1c2d3e4f'],
} as const;
export const recordId = Type.String({ minLength: 1, maxLength: 64, ...RECORD_ID });
/** Id in a path. A name is accepted here too, so that the error can say which id was meant. */
export const givenRecordId = Type.String({ minLength: 1, maxLength: RECORD_NAME_CHARACTERS_MAX, ...RECORD_ID });

export const recordSource = Type.String({
  description:
    'What the record came from and is kept as: `feed:<name>`, or `media:<store>/<path>` for a file. Absent where nothing keeps it',
  examples: ['feed:news'],
});

export const recordResource = named('StoredRecord', {
  id: recordId,
  name: recordName,
  fields: Type.Record(Type.String(), fieldValue, { description: "The record's own fields" }),
  as_of: timeSchema('When the record was last written or synced from its source'),
  source: Type.Optional(recordSource),
  created_utc: timeSchema('When the record was made'),
  modified_utc: timeSchema('When the record was last written'),
});

const vector = Type.Array(Type.Number(), { minItems: 1, maxItems: VECTOR_DIMENSIONS_MAX });

/** A record in a page of records. */
export const recordWithVectors = named('RecordWithVectors', {
  ...recordResource.properties,
  vector: Type.Optional({ ...vector, description: 'With `vectors=true`: the vector of a record that has one' }),
  vectors: Type.Optional(
    Type.Array(vector, {
      description: 'With `vectors=true`: those of a record that has several, one for each passage',
    }),
  ),
});

/** Takes the place of a record that cannot be read. */
export const damagedRecord = named(
  'DamagedRecord',
  {
    id: nullable(Type.String(), { description: 'Id of the record, where it can be read' }),
    error: Type.String({ description: 'Why the record is not told' }),
  },
  { description: 'A record that is damaged on disk, or longer than was asked for' },
);

/** Permissive on purpose: a flat record has members of any name, and the validation of records reports faults. */
export const recordInput = Type.Object(
  {},
  {
    additionalProperties: true,
    description:
      'Either `{"name", "fields": {…}, "as_of"?, "vector"?}` (or `vectors`, several; for lists whose model is of the provider `own`: PUT and POST replace them with the record, PATCH leaves them where none are given, null removes them), where what the service says of a record (`id`, `source`, `created_utc`, `modified_utc`) may stand beside, as it was read, and stays as it is (an `id` in POST and bulk goes with its own `name`); or flat: every member but `name` is a field, `id` too. The name has 1 to 512 characters; without one, the record gets its id as name. A value is a string, a number, a boolean, an array of these, a point `{"latitude", "longitude"}`, or null for none.',
    examples: [
      { name: 'film-17', fields: { title: 'The Gannet', year: 1983 } },
      { name: 'film-17', title: 'The Gannet' },
    ],
  },
);
