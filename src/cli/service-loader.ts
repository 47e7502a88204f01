/**
 * What the command line needs of the composition root. bin/gannet.js hands it over as a function, so that commands that only
 * talk to a running service never load the service's code, and so that no import goes upwards.
 */
import type { Config } from '../platform/index.js';
import type { Restored } from '../backup/index.js';
import type { AdoptionReport } from '../index/index.js';
import type { Operation, Services } from '../operations/index.js';

export interface RunningService {
  readonly services: Services;
  /** `http://127.0.0.1:8400`; undefined when the service does not listen. */
  readonly address?: string | undefined;
  /** What carries requests to it. */
  readonly webServer?: string | undefined;
  /** For the terminal, once it listens. */
  greetings(): Promise<readonly string[]>;
  /** Finishes what is under way and closes everything. */
  close(): Promise<void>;
}

export interface ServiceEntry {
  /** `listen: false` opens the data directory for this process alone, without HTTP. */
  readonly adoptUnknownLists: (config: Config) => Promise<AdoptionReport>;
  /** Paths of segments that lists need and that are not there. Rejects where a service runs. */
  readonly findMissingSegments: (config: Config) => Promise<readonly string[]>;
  /** Those of the features among them. */
  readonly allOperations: () => Promise<readonly Operation[]>;
  /** Makes the data directory what a backup has. */
  readonly restoreData: (
    config: Config,
    wanted: { readonly from: string; readonly account: string; readonly replace: boolean },
  ) => Promise<Restored>;
  /** Here and now, though threads of the service are at work. */
  readonly endProcess: (status: number) => void;
  readonly startService: (config: Config, options: { readonly listen: boolean }) => Promise<RunningService>;
}

export type ServiceLoader = () => Promise<ServiceEntry>;
