/** Information about the service: liveness, readiness, metrics, API description. Open without a key. */
import { Type } from 'typebox';
import { ServiceError } from '../../platform/index.js';
import { openApiDocument } from '../openapi/openapi.js';
import { defineOperation, type Operation } from '../dispatch/operation.js';
import type { Services } from '../dispatch/services.js';

const NO_PARAMS = Type.Object({}, { additionalProperties: false });
const PUBLIC = { permission: 'public', callers: ['key', 'console', 'cli'], target: 'none', params: NO_PARAMS } as const;
const RETRY_AFTER_SECONDS = 1;

const encoder = new TextEncoder();
const documents = new WeakMap<readonly Operation[], Uint8Array>();

export const systemOperations: readonly Operation[] = [
  defineOperation({
    ...PUBLIC,
    name: 'system.health',
    summary: 'Check that the service is alive',
    description: 'Answers 200 as long as the process runs, even before it is ready and while it stops.',
    method: 'GET',
    path: '/health',
    responses: {
      200: {
        description: 'The process is alive',
        schema: Type.Object(
          { status: Type.Literal('ok', { description: 'Always `ok`' }) },
          { additionalProperties: false },
        ),
      },
    },
    handle: () => ({ status: 200, body: { status: 'ok' } }),
  }),
  defineOperation({
    ...PUBLIC,
    name: 'system.ready',
    summary: 'Check that searches are served',
    description:
      'Answers 200 as long as searches are served. If the disk is full or cannot be written, `writes` says that changes are refused. Answers 503 while the service starts or stops, and while the data directory is missing: only lists that are already open are still served then.',
    method: 'GET',
    path: '/ready',
    responses: {
      200: {
        description: 'Searches are served',
        schema: Type.Object(
          {
            status: Type.Literal('ready', { description: 'Always `ready`' }),
            writes: Type.Optional(
              Type.Literal('refused', {
                description:
                  'Present if changes are refused, because the file system of the data directory is read-only or reports errors',
              }),
            ),
            unreadable: Type.Optional(
              Type.Array(Type.String(), {
                description:
                  'Folders of databases, other than lists, that cannot be read from the disk at the moment; absent if there are none. The service tries them again by itself. While `system` (accounts, keys and settings) is among them, changes are refused',
              }),
            ),
            set_aside: Type.Optional(
              Type.Array(Type.String(), {
                description:
                  'Folders of databases that were damaged, moved aside and replaced by empty ones; absent if there are none. Listed until the moved folder is removed',
              }),
            ),
          },
          { additionalProperties: false },
        ),
      },
    },
    errors: ['not-ready'],
    handle: async ({ services }) => {
      if (!services.ready()) throw notReady('The service is starting or stopping.');
      const storage = await services.storage();
      switch (storage.kind) {
        case 'writable':
          return { status: 200, body: { status: 'ready', ...(await toldDatabases(services)) } };
        case 'read-only':
          return { status: 200, body: { status: 'ready', writes: 'refused', ...(await toldDatabases(services)) } };
        case 'gone':
          throw notReady(`The data directory cannot be reached: ${storage.reason}.`);
      }
    },
  }),
  defineOperation({
    ...PUBLIC,
    name: 'system.metrics',
    summary: 'Read the metrics of the service',
    description: 'All metrics, in the text format of Prometheus.',
    method: 'GET',
    path: '/metrics',
    responses: { 200: { description: 'The metrics', schema: Type.String(), contentType: 'text/plain' } },
    handle: async ({ services }) => ({
      status: 200,
      body: encoder.encode(await services.metrics()),
      contentType: 'text/plain; version=0.0.4; charset=utf-8',
    }),
  }),
  defineOperation({
    ...PUBLIC,
    name: 'openapi.read',
    summary: 'Read the OpenAPI document of this API',
    method: 'GET',
    path: '/openapi.json',
    responses: { 200: { description: 'An OpenAPI 3.1 document', schema: Type.Object({}) } },
    handle: ({ services }) => ({ status: 200, body: documentOf(services) }),
  }),
];

async function toldDatabases(services: Services) {
  const { unreadable, setAside } = await services.databases();
  return {
    ...(unreadable.length === 0 ? {} : { unreadable: [...unreadable] }),
    ...(setAside.length === 0 ? {} : { set_aside: [...setAside] }),
  };
}

function notReady(detail: string): ServiceError {
  return new ServiceError('not-ready', detail, { retryAfterSeconds: RETRY_AFTER_SECONDS });
}

/** Created on first use; the registry does not change while the service runs. */
function documentOf({ operations, events }: Services): Uint8Array {
  let bytes = documents.get(operations);
  if (bytes === undefined)
    documents.set(operations, (bytes = encoder.encode(JSON.stringify(openApiDocument(operations, events)))));
  return bytes;
}
