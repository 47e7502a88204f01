/** `POST /search-result/{account}/{list}/bulk`: a streaming import. */
import type { RecordFormat } from '../../records/index.js';
import { Type } from 'typebox';
import { reachesFiles } from '../../access/index.js';
import type { ImportSession } from '../../index/index.js';
import { ServiceError } from '../../platform/index.js';
import { requireIndex } from '../dispatch/list-access.js';
import { defineOperation } from '../dispatch/operation.js';
import { fieldName, listParams, nullable, named, object } from './schemas.js';
import { roundedMs } from './search-result.js';

const FORMATS: ReadonlyMap<string, RecordFormat> = new Map([
  ['application/x-ndjson', 'ndjson'],
  ['application/ndjson', 'ndjson'],
  ['application/json', 'json'],
  ['text/csv', 'csv'],
  ['text/tab-separated-values', 'csv'],
]);

const bulkOutcome = named(
  'BulkOutcome',
  {
    created: Type.Integer({ minimum: 0, description: 'Number of records that were added' }),
    updated: Type.Integer({
      minimum: 0,
      description: 'Number of records that replaced, or with `patch` changed, a record of the same name',
    }),
    failed: Type.Integer({ minimum: 0, description: 'Number of records that were refused. The others were written' }),
    errors: Type.Array(
      object({
        line: Type.Integer({
          minimum: 1,
          description: 'Line of the input, from 1; for a JSON array, the number of the element',
        }),
        name: nullable(Type.String(), { description: 'Name of the record. Null if it could not be read' }),
        detail: Type.String({ description: 'What is wrong with the record' }),
      }),
      { description: 'The first records that were refused: 1000 by default. `failed` counts all of them' },
    ),
    took_ms: Type.Number({ minimum: 0, description: 'Milliseconds that the call took' }),
  },
  { description: 'Outcome of a bulk call' },
);

export const searchResultBulk = defineOperation({
  name: 'search-result.bulk',
  summary: 'Add or replace many records in one stream',
  description:
    'The body is NDJSON, one JSON array, or CSV with a header line (cells separated by commas, semicolons or tabs; UTF-8, UTF-16 or Windows-1252). Each record may be flat or `{"name", "fields"}`, as for a single record. Records are committed in batches as they arrive. An invalid record is refused by itself: the others are written. The answer comes when everything is on disk and searchable. If the stream breaks off, or the disk becomes full, the records that were committed remain; an error says how many of them are in the list.',
  method: 'POST',
  path: '/search-result/{account}/{list}/bulk',
  permission: 'search-result:create',
  callers: ['key', 'console', 'cli'],
  target: 'list',
  params: listParams,
  query: object({
    name_from: Type.Optional({
      ...fieldName,
      description:
        'Field whose text or number becomes the name of a record that has no `name`; it remains a field as well. Importing the same file again then replaces its records. Without this parameter, a record without a name is added as a new one each time',
      examples: ['sku'],
    }),
    patch: Type.Optional(
      Type.Boolean({
        description:
          'Whether each record changes the existing record of its name instead of replacing it: given fields are set, fields that are null are removed, and all others stay. A record whose name does not exist is refused. An empty cell of CSV changes nothing. Default false',
      }),
    ),
  }),
  body: { kind: 'stream', contentTypes: [...FORMATS.keys()] },
  responses: { 200: { description: 'The outcome; it may contain records that were refused', schema: bulkOutcome } },
  errors: ['malformed-json', 'malformed-request', 'overloaded', 'plan-limit', 'storage-full'],
  async handle({ caller, services }, { params, query, stream, contentType = '' }) {
    const startedMs = performance.now();
    const format = FORMATS.get(contentType);
    if (format === undefined || stream === undefined) {
      throw new ServiceError(
        'unsupported-media-type',
        `The content type must be one of ${[...FORMATS.keys()].join(', ')}.`,
      );
    }
    const index = await requireIndex(services, params);
    const session = index.startImport(format, {
      keepsLinks: !reachesFiles(caller, params.account, services.catalog),
      ...(query.name_from === undefined ? {} : { nameFrom: query.name_from }),
      ...(query.patch === true ? { patch: true } : {}),
    });
    await feed(session, stream);
    const { created, updated, failed, errors } = await session.end();
    return {
      status: 200,
      body: { created, updated, failed, errors, took_ms: roundedMs(performance.now() - startedMs) },
    };
  },
});

async function feed(session: ImportSession, stream: AsyncIterable<Uint8Array>): Promise<void> {
  try {
    for await (const chunk of stream) await session.push(chunk);
  } catch (error) {
    session.abort();
    throw error;
  }
}
