/** Schemas of models, and conversion of models into API resources. */
import { Type, type Static } from 'typebox';
import { namedMember, ServiceError } from '../platform/index.js';
import {
  accountName,
  nameSchema,
  nullable,
  named,
  object,
  oneKindOf,
  oneOf,
  patterned,
  webUrl,
} from '../operations/index.js';
import { BUILT_IN_MODEL } from '../vectors/index.js';
import type { ModelState } from './models.js';
import {
  MODEL_KINDS,
  MODEL_PROVIDERS,
  OF_TEXTS,
  SHOWN_PROVIDERS,
  TOKENS_MAX_DEFAULT,
  type Model,
  type ModelKind,
  type ModelProvider,
  type ProviderRow,
} from './types.js';

const DIMENSIONS_MAX = 8192;
const TOKENS_MAX_MAX = 131_072;
const PREFIX_CHARACTERS_MAX = 1000;
const FOLDER_CHARACTERS_MAX = 200;
const SERVED_NAME_CHARACTERS_MAX = 200;
const SECRET_CHARACTERS_MAX = 4096;
const PER_MINUTE_MAX = 1_000_000_000;

export const modelName = nameSchema('Name of the model', 'minilm');
export const modelParams = object({ account: accountName, model: modelName });

const kind = oneOf(MODEL_KINDS, { description: 'Kind of the model: what it does' });
const provider = oneKindOf(MODEL_PROVIDERS);
const inputs = Type.Array(oneOf(['text', 'image']), {
  minItems: 1,
  maxItems: 2,
  uniqueItems: true,
  description: 'What the model reads',
});
const tokensMax = Type.Integer({
  minimum: 8,
  maximum: TOKENS_MAX_MAX,
  description: `Longest text that the model can read, in tokens. Longer texts are cut into passages. Default: what the folder of an ONNX model says, or else ${TOKENS_MAX_DEFAULT}`,
});
const prefix = (what: string) =>
  Type.String({
    maxLength: PREFIX_CHARACTERS_MAX,
    description: `Text that the model expects before ${what}. Default: what the folder of an ONNX model says, or else none`,
  });
const perMinute = (what: string) =>
  nullable(Type.Integer({ minimum: 1, maximum: PER_MINUTE_MAX }), {
    description: `Most ${what} that are sent to the model in any minute. Null (default): no limit`,
  });

/** Settings that may be given when a model is added, and changed later. */
const settings = {
  dimensions: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: DIMENSIONS_MAX,
      description: 'For `own`: number of dimensions of the vectors. Other models are asked for it',
    }),
  ),
  tokens_max: Type.Optional(tokensMax),
  query_prefix: Type.Optional(prefix('a search text')),
  document_prefix: Type.Optional(prefix('the text of a record')),
  folder: Type.Optional(
    patterned(
      '^[A-Za-z0-9_][A-Za-z0-9._\\-]*$',
      'the name of a folder right below `models.dir`, of letters, digits, dots, hyphens and underscores, the first no dot and no hyphen',
      {
        maxLength: FOLDER_CHARACTERS_MAX,
        description:
          'For `onnx`: name of a folder in `models.dir` that has `tokenizer.json` and `model.onnx` or `onnx/model.onnx`. Default: the name of the model',
        examples: ['all-MiniLM-L6-v2'],
      },
    ),
  ),
  url: Type.Optional(
    webUrl('For `openai` and `rerank`: URL of the server, with or without `/v1`', 'https://api.example.com/v1'),
  ),
  served_name: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: SERVED_NAME_CHARACTERS_MAX,
      description: 'For `openai` and `rerank`: name of the model on the server',
    }),
  ),
  requests_per_minute: Type.Optional(perMinute('Requests')),
  tokens_per_minute: Type.Optional(perMinute('Tokens')),
  secret: Type.Optional(
    nullable(Type.String({ maxLength: SECRET_CHARACTERS_MAX }), {
      description:
        'API key for the server of the model, sent to it as `Authorization: Bearer …`. It is stored encrypted and never returned. Null: none. An empty text counts as not given',
    }),
  ),
};

export const newModel = named(
  'NewModel',
  { name: modelName, kind: Type.Optional(kind), provider, ...settings },
  { description: 'A model to add' },
);
export const modelChange = object(settings);

export const modelResource = named(
  'Model',
  {
    name: Type.String({ description: 'Name of the model', examples: ['minilm'] }),
    kind,
    provider: oneOf(SHOWN_PROVIDERS, {
      description:
        'Provider of the model. `built-in`: the model that every account has without installing anything; the others are added',
    }),
    inputs,
    dimensions: nullable(Type.Integer(), {
      description: 'Number of dimensions of its vectors. Null if it makes none, or if the number is not known yet',
    }),
    tokens_max: nullable(Type.Integer(), {
      description:
        'Longest text that the model can read, in tokens. Null for `built-in`, which reads texts of any length',
    }),
    query_prefix: Type.String({ description: 'Text that is put before each search text' }),
    document_prefix: Type.String({ description: 'Text that is put before the text of each record' }),
    has_secret: Type.Boolean({ description: 'Whether a secret is stored for the model. It is never returned' }),
    state: oneOf(['ready', 'unavailable'], { description: 'Whether the model answers, as far as is known' }),
    detail: Type.Optional(Type.String({ description: 'Why the model is unavailable; absent if it is ready' })),
    used_by: Type.Array(Type.String(), { description: 'Names of the lists and groups that use the model' }),
  },
  { description: 'A model that lists and groups can use' },
);

/**
 * Describes the model that every account has. Its dimensions differ by list, since each list learns it from its
 * records.
 */
export function describeBuiltIn(usedBy: readonly string[]): Static<typeof modelResource> {
  return {
    name: BUILT_IN_MODEL,
    kind: 'embedding',
    provider: 'built-in',
    inputs: ['text'],
    dimensions: null,
    tokens_max: null,
    query_prefix: '',
    document_prefix: '',
    has_secret: false,
    state: 'ready',
    used_by: [...usedBy],
  };
}

export function describeModel(model: Model, state: ModelState, usedBy: readonly string[]) {
  const {
    name,
    kind: does,
    provider: by,
    inputs: takes,
    dimensions,
    tokens_max,
    query_prefix,
    document_prefix,
  } = model;
  return {
    name,
    kind: does,
    provider: by,
    inputs: [...takes],
    dimensions,
    tokens_max,
    query_prefix,
    document_prefix,
    has_secret: model.secret !== null,
    ...state,
    used_by: [...usedBy],
  };
}

/**
 * Returns the kind of a new model, by default the provider's first one. Throws `invalid-parameter` for settings that do
 * not fit together.
 */
export function checkedKind(
  given: ModelKind | undefined,
  of: ModelProvider,
  members: Readonly<Record<string, unknown>>,
): ModelKind {
  const needs: ProviderRow = MODEL_PROVIDERS[of];
  const meant = given ?? needs.kinds[0];
  if (!needs.kinds.includes(meant)) {
    throw fault('/kind', `A model of the provider '${of}' must be of one of these kinds: ${needs.kinds.join(', ')}.`);
  }
  const missing = needs.needed.find((member) => members[member] === undefined || members[member] === null);
  if (missing !== undefined)
    throw fault(`/${missing}`, `A model of the provider '${of}' needs ${namedMember(missing)}.`);
  // Settings of text models are accepted for all providers, even where they have no effect.
  const known = [...new Set([...needs.needed, ...needs.others, ...OF_TEXTS])];
  const unknown = Object.keys(members).find(
    (member) => members[member] !== undefined && members[member] !== null && !known.includes(member),
  );
  if (unknown !== undefined) {
    throw fault(
      `/${unknown}`,
      `A model of the provider '${of}' does not take ${namedMember(unknown)}; it takes ${known.map(namedMember).join(', ')}.`,
    );
  }
  return meant;
}

function fault(pointer: string, detail: string): ServiceError {
  return new ServiceError('invalid-parameter', detail, { errors: [{ pointer, detail }] });
}
