/** Operations on the files that records link to. */
import { Type } from 'typebox';
import { FILE_FAULTS } from '../extracts/index.js';
import type { LinkedText, ResourcesStatus } from '../index/index.js';
import {
  accountName,
  defineOperation,
  listName,
  listParams,
  nameSchema,
  nullable,
  named,
  object,
  oneOf,
  openIndex,
  recordName,
  requireList,
  timeSchema,
  type ListExtension,
  type Services,
} from '../operations/index.js';
import { MODELS, TRANSCRIPTION_MODEL } from '../models/index.js';
import { meantModel } from '../vectors/index.js';
import { BUILT_IN_PICTURES } from '../pictures/index.js';
import { ServiceError, TOLD_CHARACTERS_MAX, toldText, URL_CHARACTERS_MAX } from '../platform/index.js';
import { pictureSearches } from './picture-search.js';
import { MODEL_REQUIRED } from './resource-problems.js';

const CALLERS = ['key', 'console', 'cli'] as const;
const PAGES_DEFAULT = 200;
const PAGES_MAX = 10_000;

const count = (description: string) => Type.Integer({ minimum: 0, description });
const fault = oneOf(FILE_FAULTS, {
  description:
    'Why the file could not be read: it does not exist, is not a PDF or a picture, needs a password, is damaged, has no text (a scan), is too large, is at an address that the service does not call, could not be fetched or read in time, or the model for pictures gave no vector for it',
});
const state = oneOf(['pending', 'read', 'failed'], {
  description:
    '`read`: the document was read; `pending`: it will be read, or read again; `failed`: it could not be read',
});

const resourcesState = named(
  'ResourcesState',
  {
    read: count('Number of files that were read'),
    pending: count('Number of files that will be read, or read again'),
    failed: count(
      'Number of files that could not be read at the last attempt. What was read of them earlier is still searched',
    ),
    errors: Type.Array(
      object({
        url: Type.String({ description: 'URL of the file' }),
        error: fault,
        detail: Type.String({ description: 'What exactly was wrong' }),
        at_utc: timeSchema('Time of the failed attempt'),
      }),
      {
        description: `The last 20 files that could not be read, newest first. A \`url\` is cut to ${URL_CHARACTERS_MAX} characters and a \`detail\` to ${TOLD_CHARACTERS_MAX}; a text that was cut ends with \`…\``,
      },
    ),
    frames: Type.Optional(
      oneOf(['read', 'no-ffmpeg'], {
        description:
          'Whether frames of videos are searched as pictures; only for a list with an `image_model` and `video` resources. `read`: they are; `no-ffmpeg`: they are not, because the service has found no ffmpeg on the machine since it started (it looks for it every few seconds), or because `resources.frames_max` is 0',
      }),
    ),
  },
  {
    description:
      'State of the files that the records link to. A file that several records link to is counted once; a video is counted once more for its frames',
  },
);

const documentText = defineOperation({
  name: 'search-result.document-text',
  summary: 'Read the text of the documents that a record links to',
  description:
    'Returns the text of each PDF document that the record links to, page by page, as it is searched, up to `max_pages`. A document that could not be read has an `error`, and what was read of it earlier, if anything. The list must have a model (any model; `own` is enough). The name of the record is the rest of the path.',
  method: 'GET',
  path: '/search-result/document-text/{account}/{list}/{record}',
  takesRest: true,
  permission: 'search-result:read',
  callers: CALLERS,
  target: 'list',
  params: object({ account: accountName, list: listName, record: recordName }),
  query: object({
    max_pages: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: PAGES_MAX,
        description: `Most pages to return of each document, beginning with \`first_page\`; default ${PAGES_DEFAULT}`,
      }),
    ),
    first_page: Type.Optional(
      Type.Integer({ minimum: 1, description: 'Number of the first page to return; default 1' }),
    ),
  }),
  responses: {
    200: {
      description: 'The documents of the record, in the order of the resource fields',
      schema: object({
        record: Type.String({ description: 'Name of the record' }),
        documents: Type.Array(
          object({
            field: Type.String({ description: 'Name of the resource field' }),
            url: Type.String({ description: 'URL of the document' }),
            state,
            page_count: count('Number of pages of the document. 0 if it was never read'),
            pages: Type.Array(
              object({
                page: Type.Integer({ minimum: 1, description: 'Number of the page' }),
                text: Type.String({ description: 'Text of the page' }),
                error: Type.Optional(
                  Type.String({
                    description: 'Present if the text of the page is damaged on disk. Its document is being read again',
                  }),
                ),
              }),
              { description: 'The pages, in order' },
            ),
            truncated: Type.Boolean({ description: 'Whether the document has more text than is returned' }),
            error: Type.Optional(fault),
          }),
          { description: 'The documents' },
        ),
      }),
    },
  },
  errors: ['record-not-found', 'overloaded', MODEL_REQUIRED],
  async handle({ services }, { params, query }) {
    const list = requireList(services, params.account, params.list);
    if (list.model === null) {
      const detail = `The list '${list.name}' has no model, which the text of documents needs. Set one, such as 'own'.`;
      throw new ServiceError(MODEL_REQUIRED, detail);
    }
    const index = await openIndex(services, list);
    const documents = await index.files.texts(params.record, {
      first: query.first_page ?? 1,
      max: query.max_pages ?? PAGES_DEFAULT,
    });
    return { status: 200, body: { record: params.record, documents: documents.map(described) } };
  },
});

const DAMAGED_PAGE = 'The text of the page is damaged on disk; its document is read again.';

function described({ field, url, state: is, pageCount, pages, truncated, fault: found }: LinkedText) {
  return {
    field,
    url,
    state: is,
    page_count: pageCount,
    pages: pages.map(({ page, text, isDamaged }) => (isDamaged ? { page, text, error: DAMAGED_PAGE } : { page, text })),
    truncated,
    ...(found === undefined ? {} : { error: found.error }),
  };
}

const refresh = defineOperation({
  name: 'list.resources-refresh',
  summary: 'Read the linked files of a list again',
  description:
    'Fetches and reads all files that the records link to again in the background, whether or not they have changed; with `failed=true`, only those that could not be read. `resources_state` of the list and `GET /progress/{account}` show the progress.',
  method: 'POST',
  path: '/list/resources-refresh/{account}/{list}',
  permission: 'list:update',
  callers: CALLERS,
  target: 'list',
  params: listParams,
  query: object({
    failed: Type.Optional(
      Type.Boolean({ description: 'Whether only files that could not be read are read again; default false' }),
    ),
  }),
  responses: {
    202: {
      description: 'The files will be read again',
      schema: object({ queued: count('Number of files that will be read again') }),
    },
  },
  errors: ['overloaded', 'storage-full'],
  async handle({ services }, { params, query }) {
    const index = await openIndex(services, requireList(services, params.account, params.list));
    return { status: 202, body: { queued: await index.files.refresh(query.failed === true) } };
  },
});

export const resourceOperations = [documentText, refresh, ...pictureSearches];

const imageModel = nullable(nameSchema('Name of a model that reads pictures', 'built-in'), {
  description:
    'Model with which the pictures of `image` resources are searched. `built-in` compares colours, layout, edges and a perceptual hash, and finds the same and similar pictures. A model of the account with `image` among its `inputs` finds pictures that it considers alike; if it also reads texts, words find pictures, too. Null: pictures are not read, and what was read of them is deleted',
});

const transcriptionModel = nullable(nameSchema('Name of the model', 'whisper'), {
  description:
    'Name of a model of the kind `transcription` that transcribes the speech of `video` and `audio` resources, so that it is searched. Null: speech is not transcribed, and existing transcripts are deleted',
});

function checkTranscription(services: Services, account: string, name: unknown): void {
  if (typeof name !== 'string' || services.part(MODELS).transcriber(account, name) !== undefined) return;
  const detail = `The account has no model '${name}' of the kind transcription.`;
  const writesDown = (other: string) => services.part(MODELS).transcriber(account, other) !== undefined;
  const meant = meantModel(services.indexes.models, account, name, writesDown);
  throw new ServiceError('invalid-parameter', detail, { errors: [{ pointer: '/transcription_model', detail }], meant });
}

export const resourceLists: ListExtension = {
  settings: {
    image_model: { schema: imageModel, initial: null, check: assertReadsPictures },
    [TRANSCRIPTION_MODEL]: { schema: transcriptionModel, initial: null, check: checkTranscription },
  },
  members: {
    resources_state: {
      schema: resourcesState,
      read: (_services, _list, outline) => {
        const status = outline?.resources();
        return status === undefined ? undefined : describedStatus(status);
      },
    },
  },
};

/** Throws `invalid-parameter` if the model reads no pictures. */
function assertReadsPictures({ indexes }: Services, account: string, value: unknown): void {
  const name = value as string | null;
  if (name === null || name === BUILT_IN_PICTURES.model || indexes.models.pictures(account, name) !== undefined) return;
  const detail = `There is no model '${name}' that reads pictures; '${BUILT_IN_PICTURES.model}' is always there, and gannet model list shows those of the account with image among their inputs.`;
  const readsPictures = (other: string) =>
    other === BUILT_IN_PICTURES.model || indexes.models.pictures(account, other) !== undefined;
  const meant = meantModel(indexes.models, account, name, readsPictures);
  throw new ServiceError('invalid-parameter', detail, { errors: [{ pointer: '/image_model', detail }], meant });
}

function describedStatus({ read, pending, failed, errors, frames }: ResourcesStatus) {
  const described = errors.map(({ url, error, detail, atMs }) => {
    const told = { url: toldText(url, URL_CHARACTERS_MAX), error, detail: toldText(detail) };
    return { ...told, at_utc: new Date(atMs).toISOString() };
  });
  return { read, pending, failed, errors: described, ...(frames === undefined ? {} : { frames }) };
}
