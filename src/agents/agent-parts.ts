/** `/mcp`: agents call operations as tools, with a key. */
import type { McpHttpHandler } from '@modelcontextprotocol/server';
import { Type } from 'typebox';
import {
  AGENTS_PATH,
  asServiceError,
  createDispatcher,
  defineOperation,
  EVENT_STREAM_TYPE,
  type Dispatcher,
  type FeatureParts,
  type OperationContext,
  type OperationResult,
  openIndex,
  type RawInput,
  type Services,
} from '../operations/index.js';
import { parseExactJson } from '../platform/exact-json.js';
import { settingsOf, withSignal, type Config } from '../platform/index.js';
import { AGENT_SETTINGS } from './agent-settings.js';
import { agentTools, isOpenTo, NO_TOOL, type AgentTool } from './agent-tool.js';
import { toolAnswer, toolError, toolProblem } from './tool-answer.js';
import { toolInput, withAccount, withVersion, type Arguments, type ToolInput } from './tool-input.js';

const REQUEST_HEADERS = ['mcp-method', 'mcp-name', 'mcp-protocol-version'] as const;
/** What every agent has to be able to read. */
const BOTH_TYPES = 'application/json, text/event-stream';
const bytesMax = ({ limits }: Config): number => limits.json_body_bytes_max;

/** What calls of tools go by, made once for a service. */
interface Tooling {
  readonly dispatcher: Dispatcher;
  readonly tools: readonly AgentTool[];
  /** The library's end of the protocol, loaded for the first agent. */
  handler?: Promise<McpHttpHandler>;
}
const toolings = new WeakMap<Services, Tooling>();

function toolingOf(services: Services): Tooling {
  let tooling = toolings.get(services);
  if (tooling === undefined) {
    tooling = { dispatcher: createDispatcher(services), tools: agentTools(services.operations) };
    toolings.set(services, tooling);
  }
  return tooling;
}

/** One for all requests, each of which brings its context along. */
async function makeHandler({ tools }: Tooling): Promise<McpHttpHandler> {
  const { createMcpHandler } = await import('@modelcontextprotocol/server');
  const { createAgentServer } = await import('./agent-server.js');
  return createMcpHandler(
    ({ authInfo }) => {
      const context = authInfo?.extra?.['context'] as OperationContext;
      const open = tools.filter((tool) => isOpenTo(tool, context.caller));
      return createAgentServer({
        tools: open,
        call: (tool, given, signal) => callTool(context, tool, { given, signal }),
      });
    },
    // How long a body may be is settled before it comes here.
    { keepAliveMs: 0, maxRequestBodySize: Number.MAX_SAFE_INTEGER },
  );
}

const callTools = defineOperation({
  name: 'agent.call',
  tool: NO_TOOL,
  summary: 'Tools for agents, by the Model Context Protocol',
  description:
    'Streamable HTTP without sessions: each message is a request of its own, and its answer comes whole. `tools/list` names the operations that the key may use, `tools/call` does one as the key may. The key is sent as `X-API-Key`, or as `Authorization: Bearer`.',
  method: 'POST',
  path: AGENTS_PATH,
  permission: null,
  callers: ['key', 'cli'],
  target: 'none',
  params: Type.Object({}, { additionalProperties: false }),
  requestHeaders: REQUEST_HEADERS,
  body: { kind: 'stream', contentTypes: ['application/json'], memory: 'whole', bytesMax },
  responses: {
    200: { description: 'The answer, a message of JSON-RPC', schema: Type.Unknown() },
    202: { description: 'A notification was taken', schema: null },
    400: {
      description: 'What is no message, or not of a version that is known here, told by one of JSON-RPC',
      schema: Type.Unknown(),
    },
    404: { description: 'A method that there is not, told by a message of JSON-RPC', schema: Type.Unknown() },
  },
  async handle(context, { stream, headers = {} }) {
    const pieces: Uint8Array[] = [];
    for await (const piece of stream ?? []) pieces.push(piece);
    return exchange(context, Buffer.concat(pieces), headers);
  },
});

/** Reads one message and answers it, by the library. */
async function exchange(
  context: OperationContext,
  bytes: Buffer,
  headers: Readonly<Record<string, string>>,
): Promise<OperationResult> {
  const message = messageOf(bytes);
  const refusal = refusalOf(message);
  if (refusal !== undefined) return answerOf(refusal);
  const tooling = toolingOf(context.services);
  const handler = await (tooling.handler ??= makeHandler(tooling));
  return withSignal(context.signal, async (signal) => {
    const request = new Request('http://gannet/mcp', {
      method: 'POST',
      headers: { ...headers, accept: BOTH_TYPES, 'content-type': 'application/json' },
      body: bytes,
      signal,
    });
    // The key was checked, and is nobody's business any more.
    const authInfo = { token: '', clientId: '', scopes: [], extra: { context } };
    return answerOf(
      await handler.fetch(request, message === undefined ? { authInfo } : { authInfo, parsedBody: message }),
    );
  });
}

/** With integers of any length. Undefined where it is no JSON, which the library says by its rules. */
function messageOf(bytes: Buffer): unknown {
  try {
    return parseExactJson(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}

const INVALID_REQUEST = -32_600;
const METHOD_NOT_FOUND = -32_601;
/** Agents of older years may send several messages at once, which are worked on side by side. */
const MESSAGES_AT_ONCE_MAX = 16;

/** What the library would take, and nobody is to be kept waiting by. */
function refusalOf(message: unknown): Response | undefined {
  if (Array.isArray(message) && message.length > MESSAGES_AT_ONCE_MAX) {
    return refused(
      { id: null, code: INVALID_REQUEST, status: 400 },
      `At most ${MESSAGES_AT_ONCE_MAX} messages may come at once.`,
    );
  }
  const messages: readonly unknown[] = Array.isArray(message) ? message : [message];
  const subscription = messages.find(isSubscription);
  if (subscription === undefined) return undefined;
  // A stream that never says anything would only hold a connection.
  const detail = 'There is nothing to listen for: tools do not change while the service runs.';
  return refused({ id: subscription.id ?? null, code: METHOD_NOT_FOUND, status: 200 }, detail);
}

function isSubscription(message: unknown): message is { readonly id?: unknown } {
  return (
    typeof message === 'object' && message !== null && 'method' in message && message.method === 'subscriptions/listen'
  );
}

interface Refusal {
  readonly id: unknown;
  readonly code: number;
  readonly status: number;
}

function refused({ id, code, status }: Refusal, message: string): Response {
  return Response.json({ jsonrpc: '2.0', id, error: { code, message } }, { status });
}

/** Whole: what the library gives as a stream, to agents of older years, are the messages of its events. */
async function answerOf(response: Response): Promise<OperationResult> {
  const { status, headers } = response;
  const text = await response.text();
  const body = headers.get('content-type')?.startsWith(EVENT_STREAM_TYPE) === true ? messagesOf(text) : text;
  return { status, ...(body === '' ? {} : { body: Buffer.from(body) }) };
}

/** JSON has no line ends, and so a message is a line. */
function messagesOf(events: string): string {
  const messages = Array.from(events.matchAll(/^data: (.*)$/gm), ([, data = '']) => data);
  return messages.length === 1 ? (messages[0] ?? '') : `[${messages.join(',')}]`;
}

interface ToolCall {
  readonly given: Arguments;
  readonly signal: AbortSignal;
}

async function callTool(context: OperationContext, tool: AgentTool, { given, signal }: ToolCall) {
  const { services, requestId } = context;
  const beginMs = performance.now();
  const log = (status: number) => {
    const ms = Math.round(performance.now() - beginMs);
    services.log.info({ requestId, operation: tool.operation.name, status, ms }, 'An agent called a tool');
  };
  try {
    const result = await perform(context, tool, { given, signal });
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

/** As the caller may, and as its operation is called by everybody else. */
async function perform(
  context: OperationContext,
  { operation }: AgentTool,
  { given, signal }: ToolCall,
): Promise<OperationResult> {
  const { services, caller, visitor, requestId } = context;
  const { dispatcher } = toolingOf(services);
  const input = withAccount(toolInput(operation, given), operation, caller.account ?? services.config.account.name);
  const admission = dispatcher.admit(operation, input.params, { kind: 'caller', caller });
  // Only now: what the caller does not reach is not opened for it.
  const params = await withVersion(input.params, operation, () => currentVersion(services, input.params));
  return dispatcher.perform(operation, rawOf({ ...input, params }), {
    services,
    ...admission,
    visitor,
    requestId,
    signal,
  });
}

/** Of a list that does not exist the operation says so. */
async function currentVersion(services: Services, { account = '', list = '' }: ToolInput['params']): Promise<string> {
  const record = services.catalog.list(account, list);
  return record === undefined ? '1' : String((await openIndex(services, record)).currentVersion);
}

function rawOf({ params, query, body, content, contentType }: ToolInput): RawInput {
  const type = contentType ?? (body === undefined ? undefined : 'application/json');
  const queryString = new URLSearchParams(query).toString();
  return {
    params,
    queryString,
    contentType: type,
    ...(body === undefined ? {} : { body: Buffer.from(JSON.stringify(body)) }),
    ...(content === undefined ? {} : { stream: once(content), bodyBytes: content.byteLength }),
  };
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

export const agentParts: FeatureParts = { operations: [callTools], open: () => ({}) };
