/**
 * What the command line needs from the composition root. bin/gannet.js passes it as a function, so that commands that
 * only talk to a running service do not load the service's code, and no import goes upwards.
 */
import type { Config } from '../platform/index.js';
import type { Restored } from '../backup/index.js';
import type { AdoptionReport } from '../index/index.js';
import type { Operation, Services } from '../operations/index.js';

export interface RunningService {
  readonly services: Services;
  /** `http://127.0.0.1:8400`. Undefined if the service does not listen. */
  readonly address?: string | undefined;
  /** Library that serves HTTP. */
  readonly webServer?: string | undefined;
  /** Lines for the terminal once it listens. */
  greetings(): Promise<readonly string[]>;
  /** Finishes pending work and closes everything. */
  close(): Promise<void>;
}

export interface ServiceEntry {
  /** Adds lists that the catalogue does not know back to it. */
  readonly adoptUnknownLists: (config: Config) => Promise<AdoptionReport>;
  /** Returns paths of missing segments that lists need. Rejects if a service runs. */
  readonly findMissingSegments: (config: Config) => Promise<readonly string[]>;
  /** Returns all operations, including those of features. */
  readonly allOperations: () => Promise<readonly Operation[]>;
  /** Restores the data directory from a backup. */
  readonly restoreData: (
    config: Config,
    wanted: { readonly from: string; readonly account: string; readonly replace: boolean },
  ) => Promise<Restored>;
  /** Ends the process at once, even while threads of the service are working. */
  readonly endProcess: (status: number) => void;
  readonly startService: (config: Config, options: { readonly listen: boolean }) => Promise<RunningService>;
}

export type ServiceLoader = () => Promise<ServiceEntry>;
