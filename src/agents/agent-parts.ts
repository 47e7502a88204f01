/** `/mcp`: agents call operations as tools, authenticated by a key. */
import type { McpHttpHandler } from '@modelcontextprotocol/server';
import { Counter } from 'prom-client';
import { Type } from 'typebox';
import {
  AGENTS_PATH,
  asServiceError,
  createDispatcher,
  defineOperation,
  EVENT_STREAM_TYPE,
  type Dispatcher,
  type FeatureParts,
  type Operation,
  type OperationContext,
  type OperationResult,
  isStreamBody,
  jsonBodyBytesMax,
  jsonBounds,
  openIndex,
  parseJson,
  loggedCaller,
  loggedNames,
  provide,
  tooLarge,
  compileCheck,
  type RawInput,
  type SchemaCheck,
  type Services,
} from '../operations/index.js';
import {
  ERROR_VALUE_CHARACTERS_MAX,
  REQUEST_TARGET_CHARACTERS_MAX,
  ServiceError,
  settingsOf,
  toldText,
  withSignal,
  type Config,
  type JsonBounds,
} from '../platform/index.js';
import { AGENT_SETTINGS } from './agent-settings.js';
import { MessageTurns } from './message-turns.js';
import { AGENTS } from './part.js';
import { agentTools, isOpenTo, type AgentTool } from './agent-tool.js';
import { toolAnswer, toolError, toolProblem } from './tool-answer.js';
import { selectedTools, type ToolSelection } from './tool-selection.js';
import { toolInput, withAccount, withVersion, type Arguments, type ToolInput } from './tool-input.js';

const REQUEST_HEADERS = ['mcp-method', 'mcp-name', 'mcp-protocol-version'] as const;
/** Media types that every client has to accept. */
const BOTH_TYPES = 'application/json, text/event-stream';
/** Limits on a message besides the arguments of a tool. */
const ENVELOPE_PARTS_MAX = 100;
const ENVELOPE_BYTES_MAX = 65_536;
const CALL = 'tools/call';
const TOOLS_CHARACTERS_MAX = 4000;
const bytesMax = ({ limits }: Config): number => limits.json_body_bytes_max;

const SELECTION = Type.Object(
  {
    tools: Type.Optional(
      Type.String({
        maxLength: TOOLS_CHARACTERS_MAX,
        description:
          'Tools to offer, by name, with commas between them; `*` stands for any characters. Default: every tool that the key may use',
        examples: ['search_*,list_read'],
        'x-separator': ',',
      }),
    ),
    read_only: Type.Optional(
      Type.Boolean({ description: 'Offer only tools that change nothing; default false', examples: [true] }),
    ),
  },
  { additionalProperties: false },
);

const MESSAGE = Type.Object(
  {
    jsonrpc: Type.Literal('2.0', { description: 'Version of JSON-RPC' }),
    id: Type.Optional(
      Type.Union([Type.String(), Type.Integer()], { description: 'Id of the request. A notification has none' }),
    ),
    method: Type.String({ description: 'Method of the protocol', examples: ['tools/list', 'tools/call'] }),
    params: Type.Optional(Type.Object({}, { description: 'Parameters of the method' })),
  },
  { description: 'A message of JSON-RPC 2.0' },
);

/** Shared state of tool calls, one per service. */
interface Tooling {
  readonly dispatcher: Dispatcher;
  readonly tools: readonly AgentTool[];
  readonly turns: MessageTurns;
  /** The library's handler, loaded for the first request. */
  handler?: Promise<McpHttpHandler>;
}
const toolings = new WeakMap<Services, Tooling>();

function toolingOf(services: Services): Tooling {
  let tooling = toolings.get(services);
  if (tooling === undefined) {
    tooling = {
      dispatcher: createDispatcher(services),
      tools: agentTools(services.operations),
      turns: new MessageTurns(),
    };
    toolings.set(services, tooling);
  }
  return tooling;
}

function reachOf({ caller: { key } }: OperationContext): string {
  if (key === undefined || key.scope === 'account') return '';
  return `The key reaches the ${key.scope} '${key.scope_target ?? ''}' alone.`;
}

/** Loads the handler. After a failure, the next request tries again. */
function handlerOf({ log }: Services, tooling: Tooling): Promise<McpHttpHandler> {
  tooling.handler ??= makeHandler(tooling, log).catch((error: unknown) => {
    delete tooling.handler;
    throw error;
  });
  return tooling.handler;
}

/** Context of a request, passed through the library. */
interface Asked {
  readonly context: OperationContext;
  readonly selection: ToolSelection;
}

/** Creates one handler for all requests; each request passes its own context. */
async function makeHandler({ tools }: Tooling, log: Services['log']): Promise<McpHttpHandler> {
  const { createAgentServer, createMcpHandler } = await import('./agent-server.js');
  return createMcpHandler(
    ({ authInfo }) => {
      const context = authInfo?.extra?.['context'] as OperationContext;
      const selection = authInfo?.extra?.['selection'] as ToolSelection;
      const open = selectedTools(tools, selection).filter((tool) => isOpenTo(tool, context.caller));
      return createAgentServer({
        tools: open,
        reach: reachOf(context),
        call: (tool, given, signal) => callTool(context, tool, { given, signal }),
      });
    },
    // The body's length was checked before.
    {
      keepAliveMs: 0,
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      onerror: (error) => {
        log.debug({ err: error }, 'A message of an agent was refused');
      },
    },
  );
}

const callTools = defineOperation({
  name: 'agent.call',
  summary: 'Send a message of the Model Context Protocol',
  description:
    'Gives agents the operations of this API as tools. The transport is Streamable HTTP without sessions: each message is a request of its own, and is answered as a whole. `tools/list` lists the operations that the key may use; `tools/call` calls one, with the permissions of the key. Send the key as `X-API-Key`, or as `Authorization: Bearer`.',
  method: 'POST',
  path: AGENTS_PATH,
  permission: null,
  callers: ['key', 'cli'],
  target: 'none',
  params: Type.Object({}, { additionalProperties: false }),
  query: SELECTION,
  requestHeaders: REQUEST_HEADERS,
  body: {
    kind: 'stream',
    contentTypes: ['application/json'],
    schemas: { 'application/json': MESSAGE },
    memory: 'whole',
    bytesMax,
  },
  responses: {
    200: { description: 'The answer, as a message of JSON-RPC', schema: Type.Unknown() },
    202: { description: 'A notification was accepted', schema: null },
    400: {
      description: 'The message has a protocol version that is not supported; the body is an error of JSON-RPC',
      schema: Type.Unknown(),
    },
    404: { description: 'The method does not exist; the body is an error of JSON-RPC', schema: Type.Unknown() },
  },
  async handle(context, { stream, headers = {}, query: { tools, read_only: readOnly } }) {
    const selection: ToolSelection = { names: tools, readOnly, givenBy: 'tools' };
    // Throws before the body is read: an invalid selection is wrong for every request of the client.
    selectedTools(toolingOf(context.services).tools, selection);
    const pieces: Uint8Array[] = [];
    for await (const piece of stream ?? []) pieces.push(piece);
    return exchange({ context, selection }, Buffer.concat(pieces), headers);
  },
});

/** Parses one message and has the library answer it. */
async function exchange(
  asked: Asked,
  bytes: Buffer,
  headers: Readonly<Record<string, string>>,
): Promise<OperationResult> {
  const { context } = asked;
  const tooling = toolingOf(context.services);
  await tooling.turns.begin(context.caller.account ?? '', context.signal);
  const message = messageOf(bytes, boundsOf(tooling, context));
  if (isSubscription(message)) return refusedSubscription(message);
  const handler = await handlerOf(context.services, tooling);
  return withSignal(context.signal, async (signal) => {
    const request = new Request('http://gannet/mcp', {
      method: 'POST',
      headers: { ...headers, accept: BOTH_TYPES, 'content-type': 'application/json' },
      signal,
    });
    // The key was checked already, and is not passed on.
    const authInfo = { token: '', clientId: '', scopes: [], extra: { ...asked } };
    return answerOf(await handler.fetch(request, { authInfo, parsedBody: message }));
  });
}

interface MessageBounds extends JsonBounds {
  readonly bytesMax: number;
}

/** Returns the limits of the largest tool that the caller may use: which tool is meant is known only after parsing. */
function boundsOf({ tools }: Tooling, { caller, services }: OperationContext): MessageBounds {
  const open = tools.filter((tool) => isOpenTo(tool, caller)).map(({ operation }) => operation);
  const most = (amount: (operation: Operation) => number) => open.reduce((so, each) => Math.max(so, amount(each)), 0);
  const { config } = services;
  return {
    bytesMax: Math.min(bytesMax(config), most((each) => contentBytesMax(each, config)) + ENVELOPE_BYTES_MAX),
    partsMax: most((each) => jsonBounds(each).partsMax) + ENVELOPE_PARTS_MAX,
    valuesMax: most((each) => jsonBounds(each).valuesMax) + ENVELOPE_PARTS_MAX,
  };
}

/** Returns the limit on a tool's content within a message: base64 is a third longer than the bytes. */
function contentBytesMax(operation: Operation, config: Config): number {
  const { body } = operation;
  if (!isStreamBody(body)) return jsonBodyBytesMax(operation, config);
  return Math.ceil(((body.bytesMax?.(config) ?? Infinity) * 4) / 3);
}

/** Parses a message. Throws as for any invalid body, before the protocol is involved. */
function messageOf(bytes: Buffer, bounds: MessageBounds): unknown {
  if (bytes.byteLength > bounds.bytesMax) throw tooLarge(bounds.bytesMax);
  // Uses the service's own parser, with its limits on depth and members, and integers of any length.
  const message = parseJson(bytes, bounds);
  // The protocol allowed arrays for some months of 2025. Each of a hundred requests would have to be counted, limited
  // and answered separately.
  if (Array.isArray(message))
    throw new ServiceError('invalid-parameter', 'Send one message per request, not an array of messages.');
  const [fault] = (checkMessage ??= compileCheck(MESSAGE, 'body'))(message, false);
  if (fault !== undefined) {
    throw new ServiceError(
      'invalid-parameter',
      `This is no message of JSON-RPC 2.0 (${fault.pointer ?? ''}): ${fault.detail}`,
      {
        errors: [fault],
      },
    );
  }
  assertShort(message as Message, bytes);
  return message;
}

interface Message {
  readonly method: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

/**
 * Throws if a part that the library processes has many members: it copies unknown parts member by member. Arguments of
 * a tool call are exempt, and may be as large as the rules of a list.
 */
function assertShort({ method, params = {} }: Message, bytes: Buffer): void {
  if (method !== CALL && bytes.byteLength > ENVELOPE_BYTES_MAX) throw tooLarge(ENVELOPE_BYTES_MAX);
  for (const [place, value] of [['', params], ...Object.entries(params)] as const) {
    if (typeof value !== 'object' || value === null) continue;
    const length = Array.isArray(value) ? value.length : Object.keys(value).length;
    if (length <= ENVELOPE_PARTS_MAX) continue;
    const detail = `It has ${length} members, and ${ENVELOPE_PARTS_MAX} at most are taken.`;
    const pointer = toldText(`/params${place === '' ? '' : '/'}${place}`, ERROR_VALUE_CHARACTERS_MAX);
    throw new ServiceError('invalid-parameter', `${pointer}: ${detail}`, { errors: [{ pointer, detail }] });
  }
}

let checkMessage: SchemaCheck | undefined;

function isSubscription(message: unknown): message is { readonly id?: unknown } {
  return (message as { readonly method: string }).method === 'subscriptions/listen';
}

const METHOD_NOT_FOUND = -32_601;

/** Refuses a subscription: its stream would never say anything, and would only occupy a connection. */
function refusedSubscription({ id = null }: { readonly id?: unknown }): OperationResult {
  const message = 'Subscriptions are not supported: the tools do not change while the service runs.';
  return { status: 200, body: { jsonrpc: '2.0', id, error: { code: METHOD_NOT_FOUND, message } } };
}

/**
 * Returns the complete answer. For older protocol versions the library streams events, whose messages are joined here.
 */
async function answerOf(response: Response): Promise<OperationResult> {
  const { status, headers } = response;
  const text = await response.text();
  const body = headers.get('content-type')?.startsWith(EVENT_STREAM_TYPE) === true ? messagesOf(text) : text;
  return { status, ...(body === '' ? {} : { body: Buffer.from(body) }) };
}

const DATA = 'data: ';

/** Returns the messages of events. Each is one line, since JSON escapes line ends. */
function messagesOf(events: string): string {
  const lines = events.split('\n').filter((line) => line.startsWith(DATA));
  const messages = lines.map((line) => line.slice(DATA.length));
  return messages.length === 1 ? (messages[0] ?? '') : `[${messages.join(',')}]`;
}

type Admitted = ReturnType<typeof admit>;

interface ToolCall {
  readonly given: Arguments;
  readonly signal: AbortSignal;
}

async function callTool(context: OperationContext, tool: AgentTool, { given, signal }: ToolCall) {
  const { services, caller, requestId } = context;
  const beginMs = performance.now();
  let admitted: Admitted | undefined;
  const log = (status: number) => {
    const ms = Math.round(performance.now() - beginMs);
    const operation = tool.operation.name;
    services.part(AGENTS).calls.inc({ operation, status: String(status) });
    const who = loggedCaller(caller, admitted?.input.params ?? {});
    const about = loggedNames(admitted?.input.params ?? {});
    services.log.info({ requestId, ...who, operation, ...about, status, ms }, 'An agent called a tool');
  };
  try {
    admitted = admit(context, tool, given);
    const result = await perform(context, tool, { admitted, signal });
    try {
      log(result.status);
      return await toolAnswer(result, settingsOf(services.config, AGENT_SETTINGS).answer_bytes_max);
    } finally {
      result.room?.release();
    }
  } catch (thrown) {
    if (signal.aborted) return toolError('The call was ended before its answer.');
    const error = asServiceError(thrown, services.log, requestId);
    log(error.status);
    return toolProblem(error);
  }
}

/** Checks the call with the caller's permissions. */
function admit({ services, caller }: OperationContext, { operation }: AgentTool, given: Arguments) {
  const input = withAccount(toolInput(operation, given), operation, caller.account ?? services.config.account.name);
  return {
    input,
    admission: toolingOf(services).dispatcher.admit(operation, input.params, { kind: 'caller', caller }),
  };
}

/** Performs the operation as for any other caller. */
async function perform(
  context: OperationContext,
  { operation }: AgentTool,
  { admitted, signal }: { readonly admitted: Admitted; readonly signal: AbortSignal },
): Promise<OperationResult> {
  const { services, visitor, requestId } = context;
  const { input, admission } = admitted;
  const { dispatcher } = toolingOf(services);
  // After admission, so that nothing is opened that the caller may not access.
  const params = await withVersion(input.params, operation, () => currentVersion(services, input.params));
  return dispatcher.perform(operation, rawOf({ ...input, params }, operation, services.config), {
    services,
    ...admission,
    visitor,
    requestId,
    signal,
  });
}

/** Returns '1' for a list that does not exist, which the operation then reports. */
async function currentVersion(services: Services, { account = '', list = '' }: ToolInput['params']): Promise<string> {
  const record = services.catalog.list(account, list);
  return record === undefined ? '1' : String((await openIndex(services, record)).currentVersion);
}

/** Returns the input as it would arrive over HTTP, with the same limits. */
function rawOf(
  { params, query, body, content, contentType }: ToolInput,
  operation: Operation,
  config: Config,
): RawInput {
  const queryString = new URLSearchParams(query).toString();
  const target = Object.values(params).reduce((length, text) => length + text.length, queryString.length);
  if (target >= REQUEST_TARGET_CHARACTERS_MAX) {
    const detail = `What stands in the path and the query string of this operation has at most ${REQUEST_TARGET_CHARACTERS_MAX} characters.`;
    throw new ServiceError('invalid-parameter', detail);
  }
  const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
  const bytesMax = jsonBodyBytesMax(operation, config);
  if (bytes !== undefined && bytes.byteLength > bytesMax) throw tooLarge(bytesMax);
  return {
    params,
    queryString,
    contentType: contentType ?? (bytes === undefined ? undefined : 'application/json'),
    ...(bytes === undefined ? {} : { body: bytes }),
    ...(content === undefined ? {} : { stream: once(content), bodyBytes: content.byteLength }),
  };
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

export const agentParts: FeatureParts = {
  operations: [callTools],
  open({ metrics }) {
    const calls = new Counter({
      name: 'gannet_agent_calls_total',
      help: 'Calls of tools by agents, by operation and status; each request of an agent is one of agent.call as well',
      labelNames: ['operation', 'status'] as const,
      registers: [metrics.registry],
    });
    return { parts: [provide(AGENTS, { calls })] };
  },
};
