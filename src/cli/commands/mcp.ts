/** `gannet mcp`: tools for an agent that starts this command and speaks to it over its standard input and output. */
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type { CallToolResult } from '@modelcontextprotocol/server';
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import {
  agentTools,
  AGENT_SETTINGS,
  createAgentServer,
  toolAnswer,
  toolError,
  toolInput,
  toolProblem,
  withAccount,
  withVersion,
  type AgentTool,
  type Arguments,
  type ToolInput,
} from '../../agents/index.js';
import type { Operation } from '../../operations/index.js';
import { parseExactJson, ServiceError, settingsOf, toldJsonFault } from '../../platform/index.js';
import type { CommandContext } from '../command-context.js';
import { EXIT, type ExitStatus } from '../exit-codes.js';
import { describeFailure } from '../failure.js';
import { ProblemError } from '../problem.js';
import type { CallInput, ServiceClient } from '../service-client.js';

export interface McpOptions {
  readonly account?: string;
  readonly readOnly?: boolean;
}

/** Until the agent closes its end. Each call opens the way to the service by itself: meanwhile other commands, and the service, have the data. */
export async function serveAgent(context: CommandContext, { account, readOnly }: McpOptions): Promise<ExitStatus> {
  const all = agentTools(await (await context.load()).allOperations());
  const tools = all.filter(({ annotations }) => readOnly !== true || annotations.readOnlyHint);
  const running = new Set<Promise<unknown>>();
  const call = (tool: AgentTool, given: Arguments): Promise<CallToolResult> => {
    const answer = callTool(context, tool.operation, { given, account: account ?? context.config.account.name });
    running.add(answer);
    void answer.finally(() => running.delete(answer));
    return answer;
  };
  const input = new PassThrough();
  const server = serveStdio(() => createAgentServer({ tools, call }), { transport: new StdioServerTransport(input) });
  for await (const line of createInterface({ input: process.stdin })) {
    const refusal = refusalOf(line);
    if (refusal === undefined) input.write(`${exact(line)}\n`);
    else process.stdout.write(`${refusal}\n`);
  }
  // The library closes its end with its input: what was asked for is answered first.
  do await setImmediate();
  while ((await Promise.all(running)).length > 0);
  await setImmediate();
  input.end();
  await server.close();
  return EXIT.done;
}

/** With long integers as texts of their digits, which the library's own reader would round. */
function exact(line: string): string {
  return line.trim() === '' ? line : JSON.stringify(parseExactJson(line));
}

const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;

/** The answer to a line that over HTTP would be refused before anybody reads it: the library drops what is no JSON, and of what is given twice keeps the last. */
function refusalOf(line: string): string | undefined {
  const message = line.trim() === '' ? undefined : toldJsonFault(line);
  if (message === undefined) return undefined;
  const asked = parsed(line);
  const code = asked === undefined ? PARSE_ERROR : INVALID_REQUEST;
  return JSON.stringify({ jsonrpc: '2.0', id: idOf(asked), error: { code, message } });
}

/** Undefined for what is no JSON. */
function parsed(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return undefined;
  }
}

/** Null where it cannot be told which request it is (JSON-RPC 2.0, 5). */
function idOf(message: unknown): string | number | null {
  const { id } = (message ?? {}) as { readonly id?: unknown };
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}

interface Given {
  readonly given: Arguments;
  readonly account: string;
}

/** Never rejects: what went wrong is told to the agent in the words in which a person reads it. */
async function callTool(
  context: CommandContext,
  operation: Operation,
  { given, account }: Given,
): Promise<CallToolResult> {
  try {
    const input = withAccount(toolInput(operation, given), operation, account);
    return await context.withData(async (client) => {
      const params = await withVersion(input.params, operation, () => currentVersion(client, input.params));
      const bytesMax = answerBytesMax(context);
      const answer = await answerOf(client, operation, { input: callInput({ ...input, params }), bytesMax });
      if (answer !== undefined) return toolAnswer(answer, bytesMax);
      return toolError(`The file has more than ${bytesMax} bytes, the most that a tool can return.`);
    });
  } catch (error) {
    if (error instanceof ServiceError) return toolProblem(error);
    return toolError(error instanceof ProblemError ? JSON.stringify(error.problem) : describeFailure(error).sentence);
  }
}

const answerBytesMax = ({ config }: CommandContext) => settingsOf(config, AGENT_SETTINGS).answer_bytes_max;

interface Wanted {
  readonly input: CallInput;
  readonly bytesMax: number;
}

/** Of a file it is not known here what it is. Undefined for one that is longer than it may be, which is not read to its end. */
async function answerOf(client: ServiceClient, { name, responses }: Operation, { input, bytesMax }: Wanted) {
  const isFile = Object.values(responses).some(({ contentType }) => contentType !== undefined);
  if (!isFile) return { body: await client.call(name, input) };
  const body = await bytesOf(await client.download(name, input), bytesMax);
  return body && { body, contentType: 'application/octet-stream' };
}

async function currentVersion(
  client: ServiceClient,
  { account = '', list = '' }: ToolInput['params'],
): Promise<string> {
  const { current_version } = (await client.call('list.read', { params: { account, list } })) as {
    readonly current_version: number;
  };
  return String(current_version);
}

function callInput({ params, query, body, content, contentType }: ToolInput): CallInput {
  return {
    params,
    query,
    ...(body === undefined ? {} : { body }),
    ...(content === undefined ? {} : { stream: once(content), streamBytes: content.byteLength }),
    ...(contentType === undefined ? {} : { contentType }),
  };
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

async function bytesOf(pieces: AsyncIterable<Uint8Array>, bytesMax: number): Promise<Uint8Array | undefined> {
  const all: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of pieces) {
    bytes += piece.byteLength;
    if (bytes > bytesMax) return undefined;
    all.push(piece);
  }
  return Buffer.concat(all);
}
