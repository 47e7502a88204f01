/** Generates the OpenAPI 3.1 document of a registry. Everything in it derives from the operations. */
import type { TSchema } from 'typebox';
import {
  ERROR_CATALOGUE,
  packageBuild,
  packageVersion,
  problemKind,
  type ErrorCode,
  type EventCatalogue,
  type ProblemKind,
} from '../../platform/index.js';
import { takesSeveral } from '../dispatch/query-string.js';
import { answerHeaders, describeRequestHeader, headersOf } from './openapi-headers.js';
import { describeTags } from './openapi-tags.js';
import { DELIVERY_SCHEMA, describeWebhookEvents, EVENT_TAG } from './openapi-webhooks.js';
import { AGENTS_PATH, agentToolName, isAgentTool } from '../dispatch/agent-tools.js';
import { ANY_CONTENT_TYPE, type Operation, type OperationTarget } from '../dispatch/operation.js';
import { isStreamBody } from '../dispatch/validation.js';
import { SchemaComponents } from './schema-components.js';
import { SharedAnswers, type Answers } from './shared-answers.js';

type Json = Readonly<Record<string, unknown>>;

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, Json>>;
  readonly required?: readonly string[];
}

const INFO = [
  'Gannet hosts lists of records and searches them: by words, by meaning, and by what is in linked files. A group searches several lists as one.',
  'Send an API key in the header `X-API-Key`. `GET /account` returns the account of the key, which most paths begin with. To search a list, read its `current_version` with `GET /list/{account}/{list}`, then call `POST /search/{account}/{list}/{version}`.',
  'Errors are problem documents (RFC 9457, `application/problem+json`). Tell them apart by `code`; `detail` says what was wrong and what was expected. Members and parameters that an operation does not know are refused (400).',
  'In a query string, booleans are true, false, 1 or 0, and several values of one parameter are separated by commas. Only parameters that take several values may be repeated: their values are joined. Times are in UTC, as ISO 8601.',
].join('\n\n');

const PROBLEM_TYPE = 'application/problem+json';

/** Codes that any operation may return in addition to its own, by its properties. */
const CODES_OF_ANY: readonly ErrorCode[] = [
  'malformed-request',
  'invalid-parameter',
  'url-too-long',
  'internal-error',
  'overloaded',
  'resources-exhausted',
  'program-replaced',
  'storage-damaged',
  'shutting-down',
  'not-ready',
];
const CODES_OF_KEYED: readonly ErrorCode[] = ['invalid-key', 'missing-permission'];
const CODES_OF_BODY: readonly ErrorCode[] = [
  'malformed-json',
  'body-too-slow',
  'body-too-large',
  'unsupported-media-type',
];
const CODES_OF_CLOSED_LISTS: readonly ErrorCode[] = ['list-missing', 'list-damaged', 'list-format'];
const CODES_OF_TARGET: Readonly<Record<OperationTarget, readonly ErrorCode[]>> = {
  none: [],
  account: ['out-of-scope', 'account-not-found'],
  list: ['out-of-scope', 'account-not-found', 'invalid-name', 'list-not-found', ...CODES_OF_CLOSED_LISTS],
  group: ['out-of-scope', 'account-not-found', 'invalid-name', 'group-not-found', ...CODES_OF_CLOSED_LISTS],
};

export function openApiDocument(operations: readonly Operation[], events: EventCatalogue): Json {
  const paths: Record<string, Record<string, Json>> = {};
  const components = new SchemaComponents();
  const described = operations.map((operation) => ({ operation, answers: answersOf(operation, components) }));
  const shared = new SharedAnswers(described.map(({ answers }) => answers));
  for (const { operation, answers } of described) {
    const responses = shared.referredTo(answers);
    const description = {
      ...describeOperation(operation, responses, components),
      ...(isAgentTool(operation, operations) ? { 'x-agent-tool': agentToolName(operation) } : {}),
    };
    (paths[operation.path] ??= {})[operation.method.toLowerCase()] = description;
  }
  const build = packageBuild();
  return {
    openapi: '3.1.0',
    info: {
      title: 'Gannet',
      version: packageVersion(),
      // Tells a command whether the service runs from the same build.
      ...(build === undefined ? {} : { 'x-build': build }),
      description: INFO,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: describeTags([...operations.map(tagOf), EVENT_TAG]),
    paths,
    webhooks: describeWebhookEvents(events),
    components: {
      securitySchemes: {
        key: {
          type: 'apiKey',
          in: 'header',
          name: 'X-API-Key',
          description: 'API key of the form `gnt_<region>_<secret>`. Create the first one with `gannet key create`.',
        },
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'The same API key, for agents that cannot send `X-API-Key`. Only for `POST /mcp`.',
        },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: 'gannet_session',
          description:
            'Session of a person who signed in with `POST /session`. Requests that change something must also send `X-CSRF-Token`. If the path has no account, `X-Account` names it.',
        },
      },
      headers: answerHeaders(),
      responses: shared.components(),
      schemas: { ...components.all(), Problem: problemSchema(operations), WebhookDelivery: DELIVERY_SCHEMA },
    },
  };
}

function tagOf(operation: Operation): string {
  return operation.name.split('.')[0] ?? operation.name;
}

function describeOperation(operation: Operation, responses: Answers, components: SchemaComponents): Json {
  const isPublic = operation.permission === 'public';
  const parameters = [
    ...parametersOf(operation.params, 'path', components),
    ...(operation.query === undefined ? [] : parametersOf(operation.query, 'query', components)),
    ...(operation.requestHeaders ?? []).map(describeRequestHeader),
  ];
  return {
    operationId: operation.name,
    tags: [tagOf(operation)],
    summary: operation.summary,
    ...(operation.description === undefined ? {} : { description: operation.description }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...requestBodyOf(operation, components),
    responses,
    security: isPublic ? [] : securityOf(operation),
    ...(isPublic || operation.permission === null ? {} : { 'x-permission': operation.permission }),
    'x-callers': operation.callers,
  };
}

/**
 * Returns alternative ways to authenticate. Operations for the command line only are shown with a session, since the
 * command line has no credentials of its own.
 */
function securityOf({ callers, path }: Operation): readonly Json[] {
  if (!callers.includes('key')) return [{ session: [] }];
  const bearer = path === AGENTS_PATH ? [{ bearer: [] }] : [];
  return [{ key: [] }, ...bearer, ...(callers.includes('console') ? [{ session: [] }] : [])];
}

function parametersOf(schema: TSchema, place: 'path' | 'query', components: SchemaComponents): Json[] {
  const { properties = {}, required = [] } = schema as ObjectSchema;
  return Object.entries(properties).map(([name, member]) => {
    const { description, ...rest } = member;
    const more = place === 'query' && takesSeveral(member) ? '. May be repeated' : '';
    return {
      name,
      in: place,
      ...(typeof description === 'string' ? { description: description + more } : {}),
      ...(place === 'path' || required.includes(name) ? { required: true } : {}),
      ...(place === 'query' && isArray(member) ? { style: 'form', explode: false } : {}),
      schema: components.of(rest),
    };
  });
}

function isArray(schema: Json): boolean {
  return schema['type'] === 'array';
}

function requestBodyOf({ body }: Operation, components: SchemaComponents): Json {
  if (body === undefined) return {};
  const content = isStreamBody(body)
    ? Object.fromEntries(
        body.contentTypes.flatMap((type) => Object.entries(contentOf(type, components.of(body.schemas?.[type] ?? {})))),
      )
    : { 'application/json': { schema: components.of(body) } };
  // A file may be empty.
  const mayBeEmpty = isStreamBody(body) && body.contentTypes.includes(ANY_CONTENT_TYPE);
  return { requestBody: { required: !mayBeEmpty, content } };
}

/** Describes bytes of any type as octets too, since many client generators know no other type for a file. */
function contentOf(type: string, schema: unknown): Json {
  const octets = { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } };
  return { ...(type === ANY_CONTENT_TYPE ? octets : {}), [type]: { schema } };
}

function answersOf(operation: Operation, components: SchemaComponents): Answers {
  const responses: Record<string, Json> = {};
  for (const [status, { description, schema, contentType, headers }] of Object.entries(operation.responses)) {
    const described = components.of(schema);
    const content = schema === null ? {} : { content: contentOf(contentType ?? 'application/json', described) };
    responses[status] = { description, headers: headersOf(status, headers), ...content };
  }
  for (const [status, problems] of byStatus(problemsOf(operation))) {
    // An operation may have an answer of its own with a status that elsewhere means a problem.
    const own: { readonly description?: string; readonly headers?: Json; readonly content?: Json } =
      responses[status] ?? {};
    const titles = problems.map(({ code, title }) => `\`${code}\`: ${title}.`);
    responses[status] = {
      description: [...(own.description === undefined ? [] : [`${own.description}.`]), ...titles].join('\n'),
      headers: { ...own.headers, ...headersOf(String(status)) },
      content: { ...own.content, [PROBLEM_TYPE]: { schema: { $ref: '#/components/schemas/Problem' } } },
    };
  }
  return responses;
}

function problemsOf(operation: Operation): ProblemKind[] {
  const isPublic = operation.permission === 'public';
  const kinds: readonly (ErrorCode | ProblemKind)[] = [
    ...CODES_OF_ANY,
    ...(isPublic ? [] : CODES_OF_KEYED),
    ...(isPublic ? [] : codesOfSessions(operation)),
    ...(isPublic || isOpenToBoth(operation) ? [] : (['console-only'] as const)),
    ...(operation.body === undefined ? [] : CODES_OF_BODY),
    ...CODES_OF_TARGET[operation.target].filter((code) => !isTolerated(operation, code)),
    ...(operation.rateLimit === undefined ? [] : (['rate-limited'] as const)),
    ...(operation.errors ?? []),
    ...(operation.errors?.includes('storage-full') === true ? (['storage-failed'] as const) : []),
  ];
  return [...new Set(kinds)].map(problemKind);
}

/** True if the operation may be called both with a key and by a person who is signed in. */
function isOpenToBoth({ callers }: Operation): boolean {
  return callers.includes('key') && callers.includes('console');
}

/** Returns the codes for callers signed in to the console, if they may call the operation. */
function codesOfSessions({ callers, method }: Operation): readonly ErrorCode[] {
  if (!callers.includes('console')) return [];
  // The page names its account in a header, even for operations of no account.
  return ['not-signed-in', 'out-of-scope', ...(method === 'GET' ? [] : (['csrf-token'] as const))];
}

/** True if a missing target is not an error of the operation. */
function isTolerated({ admitsMissingTarget }: Operation, code: ErrorCode): boolean {
  return admitsMissingTarget === true && (code === 'list-not-found' || code === 'group-not-found');
}

function byStatus(problems: readonly ProblemKind[]): ReadonlyMap<number, ProblemKind[]> {
  const statuses = new Map<number, ProblemKind[]>();
  for (const problem of problems) statuses.set(problem.status, [...(statuses.get(problem.status) ?? []), problem]);
  return statuses;
}

function problemSchema(operations: readonly Operation[]): Json {
  const own = operations.flatMap(problemsOf).map(({ code }) => code);
  return {
    type: 'object',
    description: 'An error, as a problem document of RFC 9457.',
    required: ['type', 'title', 'status', 'detail', 'code'],
    properties: {
      type: {
        type: 'string',
        format: 'uri-reference',
        description: 'Identifies the kind of error, as `/problems/<code>`.',
        examples: ['/problems/list-not-found'],
      },
      title: { type: 'string', description: 'Short name of the kind of error.', examples: ['There is no such list'] },
      status: { type: 'integer', description: 'Status code of the answer.', examples: [404] },
      detail: {
        type: 'string',
        description: 'What was wrong with this request, and what was expected. For people: its wording may change.',
      },
      code: {
        type: 'string',
        description: 'Kind of the error. Programs should tell errors apart by it.',
        enum: [...new Set([...Object.keys(ERROR_CATALOGUE), ...own])],
      },
      errors: {
        type: 'array',
        description: 'Each invalid place of the request; with status 400 always present.',
        items: {
          type: 'object',
          required: ['detail'],
          properties: {
            pointer: {
              type: 'string',
              description:
                'JSON pointer (RFC 6901) to the invalid member of the body; empty for the body or the request as a whole.',
            },
            parameter: { type: 'string', description: 'Name of the invalid path or query parameter.' },
            detail: { type: 'string', description: 'What is wrong at this place, and what was expected.' },
          },
        },
      },
      retry_after_seconds: {
        type: 'integer',
        minimum: 1,
        description: 'Seconds to wait before the request is sent again, as in the header `Retry-After`.',
      },
    },
  };
}
