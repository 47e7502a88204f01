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
    'Why nothing was read: the file is not there, is no PDF or no picture, needs a password, is damaged, has no text (a scan), is too large, lies at an address that the service does not call, did not come or could not be read in time, or the model of pictures gave no vector of it',
});
const state = oneOf(['pending', 'read', 'failed'], { description: 'pending: it is to be read, or to be read again' });

const resourcesState = named(
  'ResourcesState',
  {
    read: count('Files that were read'),
    pending: count('Files that are to be read, or read again'),
    failed: count(
      'Files that could not be read when they were looked at last; what was read of them before is still searched',
    ),
    errors: Type.Array(
      object({ url: Type.String(), error: fault, detail: Type.String(), at_utc: timeSchema('When that was found') }),
      {
        description: `The last 20 files that could not be read, the newest first; of a URL ${URL_CHARACTERS_MAX} characters are told, of a detail ${TOLD_CHARACTERS_MAX}, and what is cut ends with \`…\``,
      },
    ),
    frames: Type.Optional(
      oneOf(['read', 'no-ffmpeg'], {
        description:
          'Whether frames of videos are searched as pictures are, where the list has an `image_model` and `video` resources; `no-ffmpeg`: the machine has had no ffmpeg since the service started, which looks for it every few seconds, or `resources.frames_max` is 0',
      }),
    ),
  },
  {
    description:
      'Of the files that the records link to: each is counted once, however many records do, and a video once more for its frames',
  },
);

const documentText = defineOperation({
  name: 'search-result.document-text',
  summary: 'Read the text of the documents that a record links to',
  description:
    "The text of each of its PDF documents by pages, as it is searched, up to `max_pages`. A document that could not be read has an `error`, beside what was read of it before where there is any. The list must have a model; one of the provider `own` is enough. The record's name is the rest of the path.",
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
        description: `Number of pages to return of each document, from \`first_page\` on; default ${PAGES_DEFAULT}`,
      }),
    ),
    first_page: Type.Optional(Type.Integer({ minimum: 1, description: 'Number of the first page; default 1' })),
  }),
  responses: {
    200: {
      description: 'The documents, in the order of the resource fields',
      schema: object({
        record: Type.String({ description: 'Name of the record' }),
        documents: Type.Array(
          object({
            field: Type.String({ description: 'The resource field' }),
            url: Type.String({ description: 'Where the document is' }),
            state,
            page_count: count('Pages of the document; 0 where it was never read'),
            pages: Type.Array(
              object({
                page: Type.Integer({ minimum: 1 }),
                text: Type.String(),
                error: Type.Optional(
                  Type.String({ description: 'The text is damaged on disk; its document is read again' }),
                ),
              }),
            ),
            truncated: Type.Boolean({ description: 'There is more text behind what is answered' }),
            error: Type.Optional(fault),
          }),
        ),
      }),
    },
  },
  errors: ['record-not-found', 'overloaded', MODEL_REQUIRED],
  async handle({ services }, { params, query }) {
    const list = requireList(services, params.account, params.list);
    if (list.model === null) {
      const detail = `The list '${list.name}' has no model, which document text needs; attach one, such as 'own'.`;
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
  summary: 'Read the files of a list again',
  description:
    'All files that the records link to are fetched and read again in the background, whether or not they have changed; with `failed=true`, only those that could not be read. `resources_state` of the list and `/progress` tell how far that is.',
  method: 'POST',
  path: '/list/resources-refresh/{account}/{list}',
  permission: 'list:update',
  callers: CALLERS,
  target: 'list',
  params: listParams,
  query: object({
    failed: Type.Optional(Type.Boolean({ description: 'Only files that could not be read; default false' })),
  }),
  responses: {
    202: {
      description: 'The files will be read',
      schema: object({ queued: count('Files that are read again') }),
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
    'What makes the pictures of `image` resources searchable: `built-in` compares colours, layout, edges and a perceptual hash, and finds the same and similar pictures; a model of the account with `image` among its inputs finds what is alike to it, and where it reads texts as well, the words of a search find pictures; null: they are not read, and what was read of them is forgotten',
});

const transcriptionModel = nullable(nameSchema('Name of the model', 'whisper'), {
  description:
    'The model of the kind `transcription` that writes down what is said in `video` and `audio` resources, so that it is searched; null: none does, and what was written down is forgotten',
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
