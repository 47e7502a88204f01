/**
 * Opens the data directory in this process and calls operations directly, with the usual validation. The lock of the
 * data directory excludes other processes.
 */
import {
  createDispatcher,
  HeadedBytes,
  LOCAL_VISITOR,
  StreamedBody,
  type OperationResult,
} from '../operations/index.js';
import { DataDirectoryInUseError, NEVER, OperatorError, ServiceError, uuidv7, type Config } from '../platform/index.js';
import { operationNamed, readAnswer, requestTarget } from './call-request.js';
import { CommandError, EXIT } from './exit-codes.js';
import { ProblemError } from './problem.js';
import type { CallInput, ServiceClient } from './service-client.js';
import type { RunningService, ServiceLoader } from './service-loader.js';

/**
 * Rejects with a `DataDirectoryInUseError` if another process has the data directory, and with a CommandError if it
 * cannot be opened.
 */
export async function openInProcess(config: Config, load: ServiceLoader): Promise<ServiceClient> {
  const service = await open(config, load);
  const dispatcher = createDispatcher(service.services);

  async function perform(name: string, input: CallInput): Promise<OperationResult> {
    const operation = operationNamed(service.services.operations, name);
    const params = input.params ?? {};
    try {
      const admission = dispatcher.admit(operation, params, { kind: 'cli' });
      const raw = {
        params,
        queryString: requestTarget(operation, input).query,
        contentType: input.contentType ?? (input.body === undefined ? undefined : 'application/json'),
        ...(input.body === undefined ? {} : { body: Buffer.from(JSON.stringify(input.body)) }),
        ...(input.stream === undefined ? {} : { stream: input.stream }),
        ...(input.streamBytes === undefined ? {} : { bodyBytes: input.streamBytes }),
      };
      const context = {
        services: service.services,
        ...admission,
        visitor: LOCAL_VISITOR,
        requestId: uuidv7(),
        signal: NEVER,
      };
      return await dispatcher.perform(operation, raw, context);
    } catch (error) {
      throw error instanceof ServiceError ? new ProblemError(error.toProblem()) : error;
    }
  }

  return {
    transport: 'data directory',
    async call(name, input = {}) {
      const { status, body } = await perform(name, input);
      return readAnswer(status, bytesOf(body));
    },
    async download(name, input = {}) {
      const { body, contentType } = await perform(name, input);
      return { contentType, pieces: body instanceof StreamedBody ? body.pieces() : oneOf(bytesOf(body)) };
    },
    close: () => service.close(),
  };
}

async function open(config: Config, load: ServiceLoader): Promise<RunningService> {
  const { startService } = await load();
  try {
    return await startService(quiet(config), { listen: false });
  } catch (error) {
    if (!(error instanceof OperatorError) || error instanceof DataDirectoryInUseError) throw error;
    throw new CommandError(error.message, EXIT.unavailable);
  }
}

/** Logs only errors, so that the log does not mix with the command's output. */
function quiet(config: Config): Config {
  return { ...config, log: { ...config.log, level: config.log.level === 'silent' ? 'silent' : 'error' } };
}

async function* oneOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

function bytesOf(body: unknown): Uint8Array {
  if (body === undefined) return new Uint8Array();
  if (body instanceof HeadedBytes) return body.toBytes();
  return body instanceof Uint8Array ? body : Buffer.from(JSON.stringify(body));
}
