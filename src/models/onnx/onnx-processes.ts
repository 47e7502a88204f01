/**
 * Processes that run models of ONNX folders, shared by all models: some for records, which run with lower priority;
 * some for searches, which never wait behind records; and one for trying models before they are added. Each runs one
 * text at a time on one thread. Processes start on demand and end when idle. Main thread only.
 */
import { createChildProcess, HostPool, type Host } from '../../platform/hosts/index.js';
import { compiledFile, ServiceError } from '../../platform/index.js';
import { ModelError } from '../model-error.js';
import type { OnnxFault, OnnxModel, OnnxProtocol, OnnxRefusal } from './onnx-protocol.js';
import { shortForms } from './short-forms.js';

/**
 * Disables ONNX Runtime's telemetry, which keeps an identifier and a database in the user's home, writes into the
 * system's temporary folder, and sends data to its makers. The service makes no connections that its operator has not
 * configured (docs/decisions/0372).
 */
const WITHOUT_TELEMETRY = { ORT_DISABLE_TELEMETRY: '1' };
/** JavaScript heap: tokens and vectors of a batch, and vocabularies of tokenizers. */
const HEAP_MIB_MAX = 512;
const RECORDS_NICENESS = 10;
const RECORDS_IDLE_MS_MAX = 30_000;
/** Long, so that one process stays: a search that had to wait for the start would go on without vectors. */
const SEARCHES_IDLE_MS_MAX = 3_600_000;
const TRIALS_IDLE_MS_MAX = 1000;
/** Added to the time of a call, for starting the process and loading the model on a busy machine. */
const LOAD_MS_MAX = 120_000;
/** Searches that wait for a process. Further ones would time out before their turn. */
const SEARCHES_WAITING_MAX = 256;

export type OnnxRole = 'records' | 'searches' | 'trials';

export interface OnnxProcessesOptions {
  readonly recordProcesses: number;
  readonly searchProcesses: number;
  /** Resident memory per process, in MiB. */
  readonly memoryMibMax: number;
  /** A call that takes longer ends its process. */
  readonly callMs: number;
  readonly onDeath: (error: Error) => void;
  readonly onBug: (stack: string) => void;
}

type Pool = HostPool<OnnxProtocol>;
type Answered<Answer> = Exclude<Answer, OnnxRefusal>;

export class OnnxProcesses {
  readonly #pools: Readonly<Record<OnnxRole, Pool>>;

  constructor(private readonly options: OnnxProcessesOptions) {
    const { recordProcesses, searchProcesses } = options;
    this.#pools = {
      records: this.#pool(recordProcesses, { niceness: RECORDS_NICENESS, idleMsMax: RECORDS_IDLE_MS_MAX }),
      searches: this.#pool(searchProcesses, { niceness: 0, idleMsMax: SEARCHES_IDLE_MS_MAX }),
      trials: this.#pool(1, { niceness: 0, idleMsMax: TRIALS_IDLE_MS_MAX }),
    };
  }

  /**
   * Asks a process. Rejects with a ModelError, or with the reason of a signal that was aborted before the call's turn.
   */
  async ask<Answer extends object>(
    role: OnnxRole,
    question: (host: Host<OnnxProtocol>, options: { readonly msMax: number }) => Promise<Answer>,
    signal?: AbortSignal,
  ): Promise<Answered<Answer>> {
    const pool = this.#pools[role];
    if (role === 'searches' && pool.waiting >= SEARCHES_WAITING_MAX) {
      const detail = `More than ${SEARCHES_WAITING_MAX} searches are waiting for the vectors of their texts.`;
      throw new ModelError(detail, { retry: 'later', reason: 'busy' });
    }
    const options = { msMax: this.options.callMs + LOAD_MS_MAX };
    try {
      const answer = await pool.use((host) => {
        // Checked when the turn comes: a batch makes many calls, and listeners of all of them on one signal would be
        // costly.
        signal?.throwIfAborted();
        return question(host, options);
      });
      if ('fault' in answer) throw asModelError(answer as unknown as OnnxRefusal);
      return answer as Answered<Answer>;
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'internal-error') throw diedOf(error);
      throw error;
    }
  }

  /**
   * Starts a search process for a model whose records are being embedded, so that the first search does not wait for
   * it.
   */
  warmSearches(model: OnnxModel): void {
    this.#pools.searches.warm((host) => {
      host.notify('load', model);
    });
  }

  async close(): Promise<void> {
    await Promise.all(Object.values(this.#pools).map((pool) => pool.close()));
  }

  #pool(count: number, { niceness, idleMsMax }: { niceness: number; idleMsMax: number }): Pool {
    const { memoryMibMax, onDeath, onBug } = this.options;
    const hosts = Array.from({ length: count }, () =>
      createChildProcess<OnnxProtocol>({
        name: 'onnx',
        entry: compiledFile('src/models/onnx/onnx.worker'),
        data: null,
        heapMibMax: HEAP_MIB_MAX,
        memoryMibMax,
        niceness,
        idleMsMax,
        env: WITHOUT_TELEMETRY,
        shortForms,
        onDeath,
        onBug: (_question, stack) => {
          onBug(stack);
        },
      }),
    );
    return new HostPool(hosts);
  }
}

const RETRIES: Readonly<Record<OnnxFault, 'later' | 'never'>> = {
  runtime: 'later',
  folder: 'later',
  changed: 'later',
  text: 'never',
};

function asModelError({ fault, detail }: OnnxRefusal): ModelError {
  return new ModelError(detail, { retry: RETRIES[fault] });
}

function diedOf(error: ServiceError): ModelError {
  const reason = error.cause instanceof Error ? error.cause.message : 'an error of its own, see the log';
  const hint = /MiB/.test(reason) ? ' (models.onnx_memory_mib_max)' : '';
  return new ModelError(`The process that runs the model ended: ${reason}${hint}.`, { retry: 'later', cause: error });
}
