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

const bulkOutcome = named('BulkOutcome', {
  created: Type.Integer({ minimum: 0, description: 'Records that are new' }),
  updated: Type.Integer({ minimum: 0, description: 'Records that replaced one of the same name' }),
  failed: Type.Integer({ minimum: 0, description: 'Records that were refused; the others are written' }),
  errors: Type.Array(
    object({
      line: Type.Integer({ minimum: 1, description: 'Line of the input; of a JSON array, the element, from 1' }),
      name: nullable(Type.String(), { description: 'Name of the record where it could be read' }),
      detail: Type.String({ description: 'What was wrong' }),
    }),
    { description: 'The first failures, 1000 by default; `failed` counts all' },
  ),
  took_ms: Type.Number({ minimum: 0, description: 'Milliseconds' }),
});

export const searchResultBulk = defineOperation({
  name: 'search-result.bulk',
  summary: 'Add or replace many records in one stream',
  description:
    'NDJSON, one JSON array, or CSV with a header line (cells separated by commas, semicolons or tabs; UTF-8, UTF-16 or Windows-1252). Records are committed in batches as they arrive. Each may be flat or `{"name", "fields"}`. A bad record fails alone. The answer comes when everything is on disk and searchable. If the stream breaks off, what was committed stays.',
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
        'Field whose text or number is the name of a record that brings none, and stays a field, too: the same file once more then replaces its records. Without it, a record without a name is a new one each time',
      examples: ['sku'],
    }),
    patch: Type.Optional(
      Type.Boolean({
        description:
          'Whether records change those of their names: the fields that they bring are set, those that are null are removed, all others stay, and one whose name no record has is refused. An empty cell of CSV changes nothing. Default false',
      }),
    ),
  }),
  body: { kind: 'stream', contentTypes: [...FORMATS.keys()] },
  responses: { 200: { description: 'What became of the records', schema: bulkOutcome } },
  errors: ['malformed-json', 'malformed-request', 'overloaded', 'plan-limit', 'storage-full'],
  async handle({ caller, services }, { params, query, stream, contentType = '' }) {
    const startedMs = performance.now();
    const format = FORMATS.get(contentType);
    if (format === undefined || stream === undefined) {
      throw new ServiceError('unsupported-media-type', `The content type is one of ${[...FORMATS.keys()].join(', ')}.`);
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
