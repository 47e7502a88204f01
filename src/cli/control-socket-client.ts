/** Calls the service that runs on this data directory, through its control socket: HTTP over a Unix socket, without a key. */
import { Agent, request, type IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { operations } from '../operations/index.js';
import { controlSocketPath, type Config } from '../platform/index.js';
import { operationNamed, readAnswer, requestTarget } from './call-request.js';
import { CommandError, EXIT } from './exit-codes.js';
import { ProblemError } from './problem.js';
import type { CallInput, ServiceClient } from './service-client.js';

/** What a connection attempt says when no service listens: no file, or one that a killed service left behind. */
const NOBODY_LISTENS: ReadonlySet<string | undefined> = new Set(['ENOENT', 'ECONNREFUSED', 'ENOTSOCK', 'ENOTDIR']);

/** Undefined when no service runs on the configured data directory. */
export async function connectControlSocket(config: Config): Promise<ServiceClient | undefined> {
  const socketPath = controlSocketPath(config.data.dir);
  if (socketPath === undefined) return undefined;
  const agent = new Agent({ keepAlive: true, maxSockets: 4 });
  const client: ServiceClient = {
    transport: 'control socket',
    call: (name, input = {}) => send({ socketPath, agent }, name, input),
    async close() {
      agent.destroy();
    },
  };
  try {
    await client.call('system.health');
    return client;
  } catch (error) {
    agent.destroy();
    const code = (error as NodeJS.ErrnoException).code;
    if (NOBODY_LISTENS.has(code)) return undefined;
    if (code === 'EACCES' || code === 'EPERM') {
      throw new CommandError(
        `A service runs on ${config.data.dir} under another user: call gannet as that user.`,
        EXIT.unavailable,
      );
    }
    throw error;
  }
}

interface Connection {
  readonly socketPath: string;
  readonly agent: Agent;
}

async function send(connection: Connection, name: string, input: CallInput): Promise<unknown> {
  const operation = operationNamed(operations, name);
  const { path, query } = requestTarget(operation, input);
  const json = input.body === undefined ? undefined : Buffer.from(JSON.stringify(input.body));
  const contentType = input.contentType ?? (json === undefined ? undefined : 'application/json');
  const outgoing = request({
    ...connection,
    method: operation.method,
    path: query === '' ? path : `${path}?${query}`,
    headers: {
      ...(contentType === undefined ? {} : { 'content-type': contentType }),
      ...(json === undefined ? {} : { 'content-length': json.length }),
    },
  });
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.once('response', resolve);
    outgoing.once('error', reject);
  });
  const answer = answered.then(async (response) => readAnswer(response.statusCode ?? 500, await collect(response)));
  if (input.stream === undefined) {
    outgoing.end(json);
    return answer;
  }
  // A service that refuses a long body answers before it has read it all: its answer counts, not the broken pipe.
  const sent = pipeline(input.stream, outgoing).catch((error: unknown) => error);
  const first = await Promise.race([
    answer.then(
      () => undefined,
      (error: unknown) => error,
    ),
    sent,
  ]);
  if (first instanceof ProblemError) {
    outgoing.destroy();
    throw first;
  }
  return answer;
}

async function collect(response: IncomingMessage): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of response) chunks.push(chunk as Uint8Array);
  return Buffer.concat(chunks);
}
