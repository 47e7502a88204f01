/**
 * What a feature is: a folder with all that it brings to the service, whose `feature.ts` has one of these. `main.ts` has the list of
 * them; it opens them in its order, before any list is open, and closes them in the opposite one, before the lists.
 */
import type { Logger } from 'pino';
import type { Access } from '../../access/index.js';
import type { Catalog, UnfinishedWork } from '../../catalog/index.js';
import type { ListIndexes } from '../../index/index.js';
import type {
  Clock,
  Config,
  EnvironmentKind,
  EventSink,
  LmdbEnvironment,
  Metrics,
  SecretBox,
  ServiceKey,
} from '../../platform/index.js';
import type { Operation } from './operation.js';

/** What a feature is made of. */
export interface FeaturePlatform {
  readonly config: Config;
  readonly dataDir: string;
  /** `data/system`. */
  readonly environment: LmdbEnvironment;
  readonly catalog: Catalog;
  readonly access: Access;
  readonly secrets: SecretBox;
  readonly clock: Clock;
  readonly log: Logger;
  /** A feature registers its own measurements in `metrics.registry`. */
  readonly metrics: Metrics;
  /** False: this process serves one command, and nothing is to begin by itself. */
  readonly listen: boolean;
  /** Of which no list is open yet. */
  readonly indexes: ListIndexes;
  /** A part of a feature that stands before this one in the list. Throws where there is none. */
  part<Part>(key: ServiceKey<Part>): Part;
}

export interface OpenFeature {
  /** What operations and later features find of it by its key. */
  readonly parts?: readonly ProvidedPart[];
  /** Is told of commits that somebody wants to hear of; one feature at most. */
  readonly events?: EventSink;
  /**
   * Removes what belonged to a list or group that is gone. Never rejects; false where it is to be asked for again at the next
   * start.
   */
  forget?(work: UnfinishedWork): Promise<boolean>;
  /** Once the service is ready: what runs by itself begins. Not called in a process that serves one command. */
  start?(): void;
  /** Ends threads and files; what was acknowledged is on disk. */
  close?(): Promise<void>;
}

export interface Feature {
  readonly name: string;
  readonly operations: readonly Operation[];
  /** Its environments below the data directory: one that this release does not know stops the start before anything is opened. */
  readonly environments?: readonly { readonly path: string; readonly kind: EnvironmentKind }[];
  open(platform: FeaturePlatform): OpenFeature | Promise<OpenFeature>;
}

export interface ProvidedPart {
  readonly key: ServiceKey<unknown>;
  readonly part: unknown;
}

export function provide<Part>(key: ServiceKey<Part>, part: Part): ProvidedPart {
  return { key, part };
}
