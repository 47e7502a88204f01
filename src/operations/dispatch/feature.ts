/**
 * What a feature is: a folder with all that it brings to the service, whose `feature.ts` has one of these. `src/features.ts` has the
 * list of them. What a feature declares is known before anything of it is loaded; `main.ts` opens what it loads in the order of the
 * list, before any list is open, and closes it in the opposite one, before the lists.
 */
import type { Logger } from 'pino';
import type { Access } from '../../access/index.js';
import type { Catalog, SealedEntries, UnfinishedWork } from '../../catalog/index.js';
import type { ListIndexes } from '../../index/index.js';
import type {
  Clock,
  Config,
  EnvironmentFormat,
  EventCatalogue,
  EventKind,
  EventSink,
  LmdbEnvironment,
  Metrics,
  ProgressBoard,
  SearchActivity,
  SecretBox,
  ServiceKey,
  SettingsSection,
  StorageFaults,
} from '../../platform/index.js';
import type { CommandSpec } from './command.js';
import type { ListExtension } from './list-extension.js';
import type { Operation } from './operation.js';
import type { Trouble } from './service-state.js';

/** What a feature is made of. */
export interface FeaturePlatform {
  readonly config: Config;
  readonly dataDir: string;
  /** `data/system`. */
  readonly environment: LmdbEnvironment;
  /** What all features have on disk, of which some may not be there yet. */
  readonly environments: readonly FeatureEnvironment[];
  readonly catalog: Catalog;
  readonly access: Access;
  readonly secrets: SecretBox;
  /** Where what runs for a while says how far it is. */
  readonly progress: ProgressBoard;
  readonly clock: Clock;
  readonly log: Logger;
  /** Told of an environment of the feature that cannot be read. */
  readonly faults: StorageFaults;
  /** A feature registers its own measurements in `metrics.registry`. */
  readonly metrics: Metrics;
  /** False: this process serves one command, and nothing is to begin by itself. */
  readonly listen: boolean;
  /** Of which no list is open yet. */
  readonly indexes: ListIndexes;
  /** What can wait gives way to searches by it. */
  readonly searchActivity: SearchActivity;
  /** Who is told of events: what the feature fires goes here. */
  readonly events: EventSink;
  /** A part of a feature that stands before this one in the list. Throws where there is none. */
  part<Part>(key: ServiceKey<Part>): Part;
}

export interface OpenFeature {
  /** What operations and later features find of it by its key. */
  readonly parts?: readonly ProvidedPart[];
  /** Is told of commits that somebody wants to hear of: those of `data/system` and of all lists. */
  readonly events?: EventSink;
  /**
   * Removes what belonged to a list, group or account that is gone. False, or a rejection: it is asked for again at the next
   * start.
   */
  forget?(work: UnfinishedWork): Promise<boolean>;
  /** Once the service is ready: what runs by itself begins. Not called in a process that serves one command. */
  start?(): void;
  /**
   * What whoever starts the service is told once it is ready at `address`, such as how to begin: lines for a terminal, which stand in no
   * log. Undefined: nothing.
   */
  greeting?(address: string): Promise<string | undefined>;
  /** What of it does not work, of all accounts, for who looks after the service. Never rejects. */
  troubles?(): Promise<readonly Trouble[]>;
  /** Ends threads and files; what was acknowledged is on disk. */
  close?(): Promise<void>;
}

/** An LMDB environment below the data directory. One that this release does not know stops the start before anything is opened. */
export interface FeatureEnvironment {
  /** From the data directory: `queue`. */
  readonly path: string;
  readonly format: EnvironmentFormat;
}

/** What is known of a feature everywhere; its file imports nothing that a command which does not need it would have to load. */
export interface Feature {
  readonly name: string;
  /** Read by `settingsOf(config, …)`. */
  readonly settings?: SettingsSection;
  readonly environments?: readonly FeatureEnvironment[];
  /** Where secrets of it are sealed. */
  readonly sealed?: readonly SealedEntries[];
  /** Events that the feature fires, by their types. */
  readonly events?: Readonly<Record<string, EventKind>>;
  /** Commands of `gannet` that speak for its operations. */
  readonly commands?: readonly CommandSpec[];
  readonly load: () => Promise<FeatureParts>;
}

/** What a feature does. */
export interface FeatureParts {
  /** Made of what all features declare, where that is in their schemas. */
  readonly operations: readonly Operation[] | ((declared: Declared) => readonly Operation[]);
  /** What it adds to lists. */
  readonly lists?: ListExtension;
  open(platform: FeaturePlatform): OpenFeature | Promise<OpenFeature>;
}

/** What all features declare, put together. */
export interface Declared {
  readonly events: EventCatalogue;
}

export interface ProvidedPart {
  readonly key: ServiceKey<unknown>;
  readonly part: unknown;
}

export function provide<Part>(key: ServiceKey<Part>, part: Part): ProvidedPart {
  return { key, part };
}
