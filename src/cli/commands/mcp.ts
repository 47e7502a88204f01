/** `gannet mcp`: tools for an agent that starts this command and communicates over its standard input and output. */
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type { CallToolResult } from '@modelcontextprotocol/server';
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import {
  agentTools,
  AGENT_SETTINGS,
  createAgentServer,
  selectedTools,
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
  /** Names of tools, with commas between them. */
  readonly tools?: string;
}

/**
 * Serves until the agent closes its end. Each call connects to the service anew, so that other commands and the service
 * can use the data in between.
 */
export async function serveAgent(
  context: CommandContext,
  { account, readOnly, tools: names }: McpOptions,
): Promise<ExitStatus> {
  const all = agentTools(await (await context.load()).allOperations());
  const tools = selectedTools(all, { names, readOnly, givenBy: '--tools' });
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
  // The library closes its output with its input, so pending calls are answered first.
  do await setImmediate();
  while ((await Promise.all(running)).length > 0);
  await setImmediate();
  input.end();
  await server.close();
  return EXIT.done;
}

/** Rewrites long integers as strings, since the library's parser would round them. */
function exact(line: string): string {
  return line.trim() === '' ? line : JSON.stringify(parseExactJson(line));
}

const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;

/**
 * Returns the error for a line that would be refused over HTTP: the library drops invalid JSON, and keeps the last of
 * repeated members.
 */
function refusalOf(line: string): string | undefined {
  const message = line.trim() === '' ? undefined : toldJsonFault(line);
  if (message === undefined) return undefined;
  const asked = parsed(line);
  const code = asked === undefined ? PARSE_ERROR : INVALID_REQUEST;
  return JSON.stringify({ jsonrpc: '2.0', id: idOf(asked), error: { code, message } });
}

/** Undefined for invalid JSON. */
function parsed(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return undefined;
  }
}

/** Returns null if the request cannot be identified (JSON-RPC 2.0, 5). */
function idOf(message: unknown): string | number | null {
  const { id } = (message ?? {}) as { readonly id?: unknown };
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}

interface Given {
  readonly given: Arguments;
  readonly account: string;
}

/** Calls a tool. Never rejects: errors are returned to the agent, worded as for a person. */
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

/** Returns the answer. Undefined for a file longer than allowed, which is not read completely. */
async function answerOf(client: ServiceClient, { name, responses }: Operation, { input, bytesMax }: Wanted) {
  const isFile = Object.values(responses).some(({ contentType }) => contentType !== undefined);
  if (!isFile) return { body: await client.call(name, input) };
  const { contentType, pieces } = await client.download(name, input);
  const body = await bytesOf(pieces, bytesMax);
  return body && { body, ...(contentType === undefined ? {} : { contentType }) };
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
