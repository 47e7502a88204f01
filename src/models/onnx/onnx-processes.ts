/**
 * The processes that run models of ONNX folders, for all models together: some for records, which give way to everything else on a busy
 * machine, some for searches, which never wait behind records, and one for models that are looked at before they are added. Each runs one text at a
 * time on one thread. None is there before it is asked, and each ends when nobody asks it. Main thread only.
 */
import { createChildProcess, HostPool, type Host } from '../../platform/hosts/index.js';
import { compiledFile, ServiceError } from '../../platform/index.js';
import { ModelError } from '../model-error.js';
import type { OnnxFault, OnnxModel, OnnxProtocol, OnnxRefusal } from './onnx-protocol.js';
import { shortForms } from './short-forms.js';

/**
 * Otherwise ONNX Runtime gathers for its makers what it is used for: it keeps an identifier and a database in the user's home, writes into the
 * system's temporary folder, and sends what it keeps. This service calls nobody whom its operator has not named (docs/decisions/0372).
 */
const WITHOUT_TELEMETRY = { ORT_DISABLE_TELEMETRY: '1' };
/** JavaScript's part of the memory: tokens and vectors of a batch, and the words of tokenizers. */
const HEAP_MIB_MAX = 512;
const RECORDS_NICENESS = 10;
const RECORDS_IDLE_MS_MAX = 30_000;
/** A search that has to wait for its process goes on without it, so that one stays. */
const SEARCHES_IDLE_MS_MAX = 3_600_000;
const TRIALS_IDLE_MS_MAX = 1000;
/** Beside the call: to start the process and load the model, on a busy machine. */
const LOAD_MS_MAX = 120_000;
/** Searches that wait for a process: more would have gone on without it when their turn came. */
const SEARCHES_WAITING_MAX = 256;

export type OnnxRole = 'records' | 'searches' | 'trials';

export interface OnnxProcessesOptions {
  readonly recordProcesses: number;
  readonly searchProcesses: number;
  /** Resident memory of each in MiB. */
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

  /** What a process answers. Rejects with a ModelError, or with the reason of a signal that was aborted before its turn came. */
  async ask<Answer extends object>(
    role: OnnxRole,
    question: (host: Host<OnnxProtocol>, options: { readonly msMax: number }) => Promise<Answer>,
    signal?: AbortSignal,
  ): Promise<Answered<Answer>> {
    const pool = this.#pools[role];
    if (role === 'searches' && pool.waiting >= SEARCHES_WAITING_MAX) {
      const detail = `More than ${SEARCHES_WAITING_MAX} searches wait for the vectors of their texts.`;
      throw new ModelError(detail, { retry: 'later', reason: 'busy' });
    }
    const options = { msMax: this.options.callMs + LOAD_MS_MAX };
    try {
      const answer = await pool.use((host) => {
        // Looked at in turn: a batch is many questions, and a signal that all of them listened to would call each of them.
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

  /** Whoever has records embedded will search for them: the first search should not have to wait for its process. */
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
