/**
 * Calls the service that runs on this data directory, through its control socket: HTTP over a Unix socket, without a
 * key.
 *
 * Every call opens a new connection, at about 50 µs. A kept connection may be closed by the service while this process
 * is busy or stopped, and the next request, such as a long import, would fail.
 */
import { request, type ClientRequest, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { controlSocketPath, dataDirectoryFault, lockHolder, type Config } from '../platform/index.js';
import { operationNamed, readAnswer, requestTarget } from './call-request.js';
import { CommandError, EXIT } from './exit-codes.js';
import { KNOWN_ROUTES } from './operation-routes.js';
import { ProblemError } from './problem.js';
import type { CallInput, Download, ServiceClient } from './service-client.js';
import type { ServiceLoader } from './service-loader.js';
import { SilentServiceError, unlessAnswered, watchPulse } from './service-pulse.js';

interface Target {
  readonly socketPath: string;
  readonly dataDir: string;
  readonly load: ServiceLoader;
}

/** Connection errors if no service listens: there is no file, or a killed service left one. */
const NOBODY_LISTENS: ReadonlySet<string | undefined> = new Set(['ENOENT', 'ECONNREFUSED', 'ENOTSOCK', 'ENOTDIR']);

const MAYBE_DONE = 'The request may have been carried out all the same.';

/** Connection errors if the other end closed before the answer was complete. */
const CONNECTION_LOST: ReadonlySet<string | undefined> = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED']);

/**
 * Returns undefined if no service runs on the configured data directory. Rejects with a CommandError if one does not
 * answer.
 */
export async function connectControlSocket(config: Config, load: ServiceLoader): Promise<ServiceClient | undefined> {
  const socketPath = controlSocketPath(config.data.dir);
  if (socketPath === undefined) return undefined;
  const target: Target = { socketPath, dataDir: config.data.dir, load };
  try {
    await assertAnswers(target);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (NOBODY_LISTENS.has(code)) return undefined;
    if (code === 'EACCES' || code === 'EPERM') {
      // Without access to the folder, it is unknown whether a service runs there.
      const fault = dataDirectoryFault(config.data.dir) ?? 'a service runs on it as another user';
      throw new CommandError(
        `The data directory ${config.data.dir} cannot be used: ${fault}. Run gannet as the user that runs the service.`,
        EXIT.unavailable,
      );
    }
    throw error;
  }
  const whileItRuns = async <Result>(sent: Promise<Result>): Promise<Result> => {
    try {
      return await sent;
    } catch (error) {
      if (!NOBODY_LISTENS.has((error as NodeJS.ErrnoException).code)) throw error;
      throw new CommandError(
        `The service on ${config.data.dir} has stopped. Start it again, then repeat the command.`,
        EXIT.unavailable,
      );
    }
  };
  return {
    transport: 'control socket',
    call: (name, input = {}) => whileItRuns(send(target, name, input)),
    download: (name, input = {}) => whileItRuns(download(target, name, input)),
    close: () => Promise.resolve(),
  };
}

/** Rejects with a SilentServiceError if the service does not answer. `over` cancels the check. */
async function assertAnswers(target: Target, over?: AbortSignal): Promise<void> {
  const { dataDir } = target;
  const { outgoing } = await begin(target, 'system.health', {});
  const answer = answerTo(outgoing, 'system.health');
  const answered = unlessAnswered(() => {
    const holder = lockHolder(join(dataDir, 'lock'));
    const who = holder === undefined ? '' : ` (process ${holder.pid})`;
    outgoing.destroy(new SilentServiceError(`The service on ${dataDir}${who}`));
  });
  over?.addEventListener('abort', () => outgoing.destroy(), { once: true });
  try {
    outgoing.end();
    await answer;
  } finally {
    answered();
  }
}

/** Waits for the answer to a call, and gives up if the service stops answering anything. */
async function whileAlive<Result>(
  target: Target,
  outgoing: ClientRequest,
  wait: () => Promise<Result>,
): Promise<Result> {
  let silence: CommandError | undefined;
  const end = watchPulse(
    (over) => assertAnswers(target, over),
    ({ message, status }) => {
      silence = new CommandError(`${message} ${MAYBE_DONE}`, status);
      outgoing.destroy(silence);
    },
  );
  try {
    return await wait();
  } catch (error) {
    throw silence ?? error;
  } finally {
    end();
  }
}

/**
 * Rejects with a ProblemError, a CommandError, the error of `input.stream`, or the system's error for the connection.
 */
async function send(target: Target, name: string, input: CallInput): Promise<unknown> {
  const { outgoing, json } = await begin(target, name, input);
  const { stream } = input;
  return whileAlive(target, outgoing, () => {
    const answer = answerTo(outgoing, name);
    if (stream !== undefined) return sendStream(stream, outgoing, answer);
    outgoing.end(json);
    return answer;
  });
}

async function download(target: Target, name: string, input: CallInput): Promise<Download> {
  const { outgoing } = await begin(target, name, input);
  outgoing.end();
  const response = await whileAlive(target, outgoing, () =>
    whileConnected(name, async () => {
      const begun = await responseTo(outgoing);
      const status = begun.statusCode ?? 500;
      if (status >= 400) readAnswer(status, await collect(begun));
      return begun;
    }),
  );
  return {
    contentType: response.headers['content-type'],
    pieces: whileSent(target, outgoing, whileConnectedTo(response, name)),
  };
}

/** Creates a request whose body has yet to be sent. */
async function begin(
  { socketPath, load }: Target,
  name: string,
  input: CallInput,
): Promise<{ readonly outgoing: ClientRequest; readonly json: Buffer | undefined }> {
  const operation = KNOWN_ROUTES.get(name) ?? operationNamed(await (await load()).allOperations(), name);
  const { path, query } = requestTarget(operation, input);
  const json = input.body === undefined ? undefined : Buffer.from(JSON.stringify(input.body));
  const contentType = input.contentType ?? (json === undefined ? undefined : 'application/json');
  const outgoing = request({
    socketPath,
    agent: false,
    method: operation.method,
    path: query === '' ? path : `${path}?${query}`,
    headers: {
      ...(contentType === undefined ? {} : { 'content-type': contentType }),
      ...(json === undefined ? {} : { 'content-length': json.length }),
      ...(input.streamBytes === undefined ? {} : { 'content-length': input.streamBytes }),
    },
  });
  return { outgoing, json };
}

async function answerTo(outgoing: ClientRequest, name: string): Promise<unknown> {
  return whileConnected(name, async () => {
    const response = await responseTo(outgoing);
    return readAnswer(response.statusCode ?? 500, await collect(response));
  });
}

function responseTo(outgoing: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    outgoing.once('response', resolve);
    // Not `once`: a connection may report its loss twice.
    outgoing.on('error', reject);
    // A request that is aborted before it has a connection, because its body failed at once, emits only this.
    outgoing.once('close', () => {
      reject(Object.assign(new Error('The connection was closed.'), { code: 'ECONNRESET' }));
    });
  });
}

async function whileConnected<Result>(name: string, action: () => Promise<Result>): Promise<Result> {
  try {
    return await action();
  } catch (error) {
    throw asLostConnection(error, name);
  }
}

/** Converts a lost connection into a CommandError; other errors stay. */
function asLostConnection(error: unknown, name: string): unknown {
  if (!CONNECTION_LOST.has((error as NodeJS.ErrnoException).code)) return error;
  return new CommandError(
    `The service closed the connection before it answered (${name}); see its log for the reason. ${MAYBE_DONE}`,
    EXIT.unavailable,
  );
}

async function* whileConnectedTo(response: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<Uint8Array, void> {
  try {
    yield* response;
  } catch (error) {
    throw asLostConnection(error, name);
  }
}

/** Watches the service only while waiting for the next piece, since the consumer may be slow. */
async function* whileSent(
  target: Target,
  outgoing: ClientRequest,
  pieces: AsyncGenerator<Uint8Array, void>,
): AsyncGenerator<Uint8Array> {
  try {
    for (;;) {
      const { done, value } = await whileAlive(target, outgoing, () => pieces.next());
      if (done === true) return;
      yield value;
    }
  } finally {
    await pieces.return(undefined);
  }
}

/**
 * Sends a stream. A service that refuses a long body answers before reading all of it: its answer counts, not the
 * broken pipe.
 */
async function sendStream(
  stream: AsyncIterable<Uint8Array>,
  outgoing: ClientRequest,
  answer: Promise<unknown>,
): Promise<unknown> {
  let sourceFailure: { readonly error: unknown } | undefined;
  async function* watched() {
    try {
      yield* stream;
    } catch (error) {
      sourceFailure = { error };
      throw error;
    }
  }
  const sent = pipeline(watched, outgoing).catch((error: unknown) => error);
  const refusal = await Promise.race([
    answer.then(
      () => undefined,
      (error: unknown) => error,
    ),
    sent.then(() => undefined),
  ]);
  if (sourceFailure !== undefined) {
    await answer.catch(() => undefined);
    throw sourceFailure.error;
  }
  if (refusal instanceof ProblemError) {
    outgoing.destroy();
    throw refusal;
  }
  return answer;
}

async function collect(response: IncomingMessage): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of response) chunks.push(chunk as Uint8Array);
  return Buffer.concat(chunks);
}
