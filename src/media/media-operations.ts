/** `/media`: files in the media stores of an account, streamed in both directions. */
import { Type } from 'typebox';
import {
  ANY_CONTENT_TYPE,
  defineOperation,
  object,
  StreamedBody,
  type OperationResult,
  type RequestHeaders,
} from '../operations/index.js';
import { settingsOf, withSignal } from '../platform/index.js';
import { assertExpected, isKnown, wantedRange } from './conditions.js';
import { contentTypeOf, safetyHeaders } from './content-types.js';
import { assertPath, fileNotFound, PATH_CHARACTERS_MAX } from './media-path.js';
import { describeFile, fileParams, filePath, fileResource, storeParams } from './media-schemas.js';
import type { MediaStore, OpenFile, StoredFile } from './media-store.js';
import { MEDIA_STORES } from './media-stores.js';
import { MEDIA_SETTINGS } from './settings.js';
import { FILE_NOT_FOUND, MEDIA_STORE_NOT_FOUND, STORE_FULL, STORE_UNAVAILABLE } from './media-problems.js';

const CALLERS = ['key', 'console', 'cli'] as const;
const PAGE_SIZE_DEFAULT = 100;
const PAGE_SIZE_MAX = 1000;

const ofFile = {
  path: '/media/{account}/{store}/{path}',
  params: fileParams,
  takesRest: true,
  callers: CALLERS,
} as const;
const ERRORS = [MEDIA_STORE_NOT_FOUND, 'invalid-name', STORE_UNAVAILABLE, 'storage-damaged'] as const;

const put = defineOperation({
  ...ofFile,
  name: 'media.upload',
  summary: 'Upload a file to a media store',
  description:
    'The body is the bytes of the file; a form with the file in it is refused (415). It becomes visible at its path when all of it is on disk. Until then, and if the upload breaks off, the path keeps the file that it had. `If-None-Match: *` only creates a new file; `If-Match` only replaces the file with that ETag.',
  method: 'PUT',
  permission: 'media:create',
  target: 'account',
  requestHeaders: ['if-match', 'if-none-match'],
  body: {
    kind: 'stream',
    contentTypes: [ANY_CONTENT_TYPE],
    bytesMax: (config) => settingsOf(config, MEDIA_SETTINGS).file_bytes_max,
    memory: 'window',
  },
  responses: {
    200: { description: 'The file; it replaced another one', schema: fileResource, headers: ['ETag'] },
    201: { description: 'The new file', schema: fileResource, headers: ['ETag'] },
  },
  errors: [...ERRORS, 'precondition-failed', STORE_FULL, 'plan-limit', 'storage-full', 'conflict'],
  async handle({ services }, { params, stream, contentType = '', bodyBytes, headers = {} }) {
    const { account, store, path } = params;
    assertPath(path);
    const media = services.part(MEDIA_STORES);
    const { file, isNew } = await media.measured('upload', () =>
      media.open(account, store).put({
        path,
        contentType: contentTypeOf(contentType, path),
        bytes: bodyBytes,
        body: stream ?? noBytes(),
        check: (current) => assertExpected(headers, current),
        isConditional: Object.keys(headers).length > 0,
      }),
    );
    return { status: isNew ? 201 : 200, headers: { ETag: `"${file.etag}"` }, body: describeFile(file) };
  },
});

const FILE_HEADERS = [
  'ETag',
  'Accept-Ranges',
  'Last-Modified',
  'X-Content-Type-Options',
  'Content-Security-Policy',
  'Cross-Origin-Resource-Policy',
  'Content-Disposition',
] as const;

const read = defineOperation({
  ...ofFile,
  name: 'media.read',
  summary: 'Download a file of a media store',
  description:
    'Returns the whole file, or the part that `Range` asks for. Only one range is supported: several are answered with the whole file. Files that a browser could execute are sent as attachments, and browsers are told not to guess their type.',
  method: 'GET',
  permission: 'media:read',
  target: 'account',
  requestHeaders: ['if-match', 'if-none-match', 'if-range', 'range'],
  responses: {
    200: { description: 'The file', schema: Type.Unknown(), contentType: ANY_CONTENT_TYPE, headers: FILE_HEADERS },
    206: {
      description: 'The requested part of the file',
      schema: Type.Unknown(),
      contentType: ANY_CONTENT_TYPE,
      headers: [...FILE_HEADERS, 'Content-Range'],
    },
    304: {
      description: 'The file still has an ETag of `If-None-Match`: use your copy',
      schema: null,
      headers: ['ETag'],
    },
  },
  errors: [...ERRORS, FILE_NOT_FOUND, 'precondition-failed', 'range-not-satisfiable'],
  async handle({ services, headOnly = false }, { params: { account, store, path }, headers = {} }) {
    assertPath(path);
    const media = services.part(MEDIA_STORES);
    return media.measured('read', () => fileAnswer(media.open(account, store), path, headers, headOnly));
  },
});

const remove = defineOperation({
  ...ofFile,
  name: 'media.delete',
  summary: 'Delete a file of a media store',
  method: 'DELETE',
  permission: 'media:delete',
  target: 'account',
  requestHeaders: ['if-match', 'if-none-match'],
  responses: { 204: { description: 'The file was deleted', schema: null } },
  errors: [...ERRORS, FILE_NOT_FOUND, 'precondition-failed', 'storage-full'],
  async handle({ services }, { params: { account, store, path }, headers = {} }) {
    assertPath(path);
    const media = services.part(MEDIA_STORES);
    await media.measured('delete', () =>
      media.open(account, store).remove(path, (current) => {
        if (current === undefined) throw fileNotFound(path);
        assertExpected(headers, current);
      }),
    );
    return { status: 204 };
  },
});

const list = defineOperation({
  name: 'media.list',
  summary: 'List the files of a media store',
  description: 'Lists files in the order of their paths, compared byte by byte in UTF-8.',
  method: 'GET',
  path: '/media/{account}/{store}',
  permission: 'media:read',
  callers: CALLERS,
  target: 'account',
  params: storeParams,
  query: object({
    prefix: Type.Optional(
      Type.String({ maxLength: PATH_CHARACTERS_MAX, description: 'Returns only files whose paths begin with this' }),
    ),
    after: Type.Optional(Type.String({ maxLength: PATH_CHARACTERS_MAX, description: '`next` of the page before' })),
    size: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: PAGE_SIZE_MAX,
        description: `Number of files to return; default ${PAGE_SIZE_DEFAULT}`,
      }),
    ),
  }),
  responses: {
    200: {
      description: 'A page of files',
      schema: object({ files: Type.Array(fileResource, { description: 'The files' }), next: Type.Optional(filePath) }),
    },
  },
  errors: ERRORS,
  async handle({ services, signal: left }, { params: { account, store }, query }) {
    const { prefix = '', after = '', size = PAGE_SIZE_DEFAULT } = query;
    const media = services.part(MEDIA_STORES);
    const page = await withSignal(left, (signal) =>
      media.measured('list', () => media.open(account, store).list({ prefix, after, size, signal })),
    );
    const last = page.files.at(-1);
    const next = page.hasMore && last !== undefined ? { next: last.path } : {};
    return { status: 200, body: { files: page.files.map(describeFile), ...next } };
  },
});

async function fileAnswer(
  store: MediaStore,
  path: string,
  headers: RequestHeaders,
  headOnly: boolean,
): Promise<OperationResult> {
  if (headOnly) return answerOf(await store.stat(path), undefined, path, headers);
  const opened = await store.open(path);
  try {
    const answer = answerOf(opened?.file, opened, path, headers);
    if (answer.body instanceof StreamedBody) await answer.body.begin();
    else await opened?.close();
    return answer;
  } catch (error) {
    await opened?.close();
    throw error;
  }
}

function answerOf(
  file: StoredFile | undefined,
  opened: OpenFile | undefined,
  path: string,
  headers: RequestHeaders,
): OperationResult {
  if (file === undefined) throw fileNotFound(path);
  const known = { ETag: `"${file.etag}"`, 'Cache-Control': 'private, no-cache' };
  if (isKnown(headers, file)) return { status: 304, headers: known };
  const range = wantedRange(headers, file);
  const { begin, end } = range ?? { begin: 0, end: file.bytes };
  return {
    status: range === undefined ? 200 : 206,
    contentType: file.contentType,
    headers: {
      ...known,
      'Accept-Ranges': 'bytes',
      'Last-Modified': new Date(file.modifiedUtc).toUTCString(),
      ...(range === undefined ? {} : { 'Content-Range': `bytes ${begin}-${end - 1}/${file.bytes}` }),
      ...safetyHeaders(path, file.contentType),
    },
    body: new StreamedBody({
      byteLength: end - begin,
      pieces: () => (opened === undefined ? noBytes() : opened.pieces(range)),
      letGo: () => void opened?.close().catch(() => undefined),
    }),
  };
}

async function* noBytes(): AsyncGenerator<Uint8Array> {}

export const mediaOperations = [put, list, read, remove];
