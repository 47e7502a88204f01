/**
 * `/model`: the models of an account. Changes are allowed to the console and the command line only, since a model may
 * have a secret.
 */
import { Type } from 'typebox';
import { Secret, ServiceError } from '../platform/index.js';
import { accountParams, defineOperation, object, type OperationContext } from '../operations/index.js';
import { BUILT_IN_MODEL, MODEL_VIEW } from '../vectors/index.js';
import {
  checkedKind,
  describeBuiltIn,
  describeModel,
  modelChange,
  modelParams,
  modelResource,
  newModel,
} from './model-schemas.js';
import { MODELS } from './models.js';
import type { Model } from './types.js';

const CALLERS = ['key', 'console', 'cli'] as const;
const OPERATORS = ['console', 'cli'] as const;
const VIEW = MODEL_VIEW;
/** Permission to change an account. */
const CHANGE = 'account:update';

const ofModel = { target: 'account', params: modelParams, errors: ['not-found'] } as const;
const shown = (description: string) => ({ description, schema: modelResource });

function describe({ services }: OperationContext, model: Model) {
  const models = services.part(MODELS);
  return describeModel(model, models.state(model), models.usedBy(model.account, model.name));
}

/** Describes all models of an account, the built-in one first. */
function describeAll({ services }: OperationContext, account: string) {
  const models = services.part(MODELS);
  const usersOf = models.users(account);
  const added = models.of(account).map((each) => describeModel(each, models.state(each), usersOf(each.name)));
  return [describeBuiltIn(usersOf(BUILT_IN_MODEL)), ...added];
}

/** Throws `unprocessable` for the built-in model. */
function assertAdded(model: string): void {
  if (model !== BUILT_IN_MODEL) return;
  throw new ServiceError('unprocessable', `The model '${model}' is built in: it cannot be changed, deleted or tested.`);
}

const list = defineOperation({
  name: 'model.list',
  summary: 'List the models of an account',
  description:
    'Lists the built-in model, which every account has, then the models of the account, sorted by name. Secrets are not returned.',
  method: 'GET',
  path: '/model/{account}',
  permission: VIEW,
  callers: CALLERS,
  target: 'account',
  params: accountParams,
  responses: {
    200: {
      description: 'The models',
      schema: object({ models: Type.Array(modelResource, { description: 'The models' }) }),
    },
  },
  handle: (context, { params: { account } }) => ({
    status: 200,
    body: { models: describeAll(context, account) },
  }),
});

const read = defineOperation({
  ...ofModel,
  name: 'model.read',
  summary: 'Read a model',
  method: 'GET',
  path: '/model/{account}/{model}',
  permission: VIEW,
  callers: CALLERS,
  responses: { 200: shown('The model') },
  handle: (context, { params: { account, model } }) => {
    const models = context.services.part(MODELS);
    if (model === BUILT_IN_MODEL) return { status: 200, body: describeBuiltIn(models.usedBy(account, model)) };
    return { status: 200, body: describe(context, models.required(account, model)) };
  },
});

const create = defineOperation({
  name: 'model.create',
  summary: 'Add a model',
  description:
    'Sends one request to the model before it is added. If the model does not answer, it is refused (422). Its answer determines the dimensions of its vectors.',
  method: 'POST',
  path: '/model/{account}',
  permission: CHANGE,
  callers: OPERATORS,
  target: 'account',
  params: accountParams,
  body: newModel,
  responses: { 201: shown('The model') },
  errors: ['name-exists', 'conflict', 'unprocessable', 'storage-full'],
  async handle(context, { params: { account }, body }) {
    const { name, kind: given, provider, secret: typed, ...members } = body;
    const secret = typed === '' ? undefined : typed;
    const kind = checkedKind(given, provider, { ...members, secret });
    const added = await context.services.part(MODELS).add({
      account,
      name,
      kind,
      provider,
      dimensions: members.dimensions ?? null,
      tokens_max: members.tokens_max ?? null,
      query_prefix: members.query_prefix ?? null,
      document_prefix: members.document_prefix ?? null,
      folder: provider === 'onnx' ? (members.folder ?? name) : null,
      url: members.url ?? null,
      served_name: members.served_name ?? null,
      requests_per_minute: members.requests_per_minute ?? null,
      tokens_per_minute: members.tokens_per_minute ?? null,
      secret: typeof secret === 'string' ? new Secret(secret) : null,
    });
    return { status: 201, body: describe(context, added) };
  },
});

const update = defineOperation({
  ...ofModel,
  name: 'model.update',
  summary: 'Change a model',
  description:
    'Members that are not given keep their value. One request is sent to the changed model. If its vectors differ from before, the vectors of all lists that use it are computed again.',
  method: 'PUT',
  path: '/model/{account}/{model}',
  permission: CHANGE,
  callers: OPERATORS,
  body: modelChange,
  responses: { 200: shown('The model') },
  errors: [...ofModel.errors, 'unprocessable', 'storage-full'],
  async handle(context, { params: { account, model }, body: { secret: typed, ...members } }) {
    assertAdded(model);
    const secret = typed === '' ? undefined : typed;
    const models = context.services.part(MODELS);
    const { kind, provider, url, served_name, dimensions } = models.required(account, model);
    const own = provider === 'own' ? { dimensions } : {};
    checkedKind(kind, provider, { url, served_name, ...own, ...members, secret });
    const changed = await models.change(account, model, {
      ...members,
      ...(secret === undefined ? {} : { secret: secret === null ? null : new Secret(secret) }),
    });
    return { status: 200, body: describe(context, changed) };
  },
});

const remove = defineOperation({
  ...ofModel,
  name: 'model.delete',
  summary: 'Delete a model',
  description: 'Refused (409) while lists or groups use the model.',
  method: 'DELETE',
  path: '/model/{account}/{model}',
  permission: CHANGE,
  callers: OPERATORS,
  responses: { 204: { description: 'The model was deleted', schema: null } },
  errors: [...ofModel.errors, 'conflict', 'unprocessable', 'storage-full'],
  async handle({ services }, { params: { account, model } }) {
    assertAdded(model);
    await services.part(MODELS).delete(account, model);
    return { status: 204 };
  },
});

const test = defineOperation({
  ...ofModel,
  name: 'model.test',
  summary: 'Test a model with a request',
  method: 'POST',
  path: '/model/{account}/{model}/test',
  permission: CHANGE,
  callers: OPERATORS,
  responses: {
    200: {
      description: 'The model answered',
      schema: object({
        dimensions: modelResource.properties.dimensions,
        took_ms: Type.Number({ minimum: 0, description: 'Milliseconds until it answered' }),
      }),
    },
  },
  errors: [...ofModel.errors, 'unprocessable'],
  async handle({ services }, { params: { account, model } }) {
    assertAdded(model);
    const { dimensions, tookMs } = await services.part(MODELS).test(account, model);
    return { status: 200, body: { dimensions, took_ms: Math.round(tookMs * 10) / 10 } };
  },
});

export const modelOperations = [list, read, create, update, remove, test];
