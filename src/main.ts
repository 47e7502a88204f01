/**
 * The composition root: the one file that knows every part and puts them together. Parts are opened in the order in which they
 * need each other and closed in the opposite order, also when a start fails half-way.
 */
import { join, resolve } from 'node:path';
import { kernel } from '../native-bindings/index.js';
import { openAccess, PermissionCatalogue, RateLimiter } from './access/index.js';
import { CollectionStore, openCatalog, UnreadableCatalogue, type Catalog } from './catalog/index.js';
import { openSystemPart } from './damaged-system.js';
import { assertCatalogueFilled, assertCatalogueStored, openDataDirectory } from './data-directory.js';
import { assertPlaceForFirstStart, tellOfProxies, warnOfMemory } from './before-start.js';
import { createListIndexes, ListRoom, type IngestExecutor, type ListIndexes } from './index/index.js';
import { FEATURES } from './features.js';
import type { Declared, FeatureParts, OpenFeatures, Operation, Services } from './operations/index.js';
import type { Site, WebServerName } from './http/index.js';
import { lazily, OpenParts } from './open-parts.js';
import { sealSecrets, secretsOf, standingOf } from './service-standing.js';
import { stateOf } from './service-state.js';
import { useVersionsKept } from './store/index.js';
import { bringUp, dueUpgrades } from './upgrades.js';
import {
  createRequestMemory,
  EventCatalogue,
  limitMappedMemory,
  makeControlSocketPath,
  memoryBudget,
  openEnvironment,
  OwnMemory,
  ProgressBoard,
  packageRoot,
  residentOwnBytes,
  StorageFaults,
  ServiceManager,
  systemClock,
  takeServiceManager,
  tuneGarbageCollection,
  WAITING_SLICE_MS,
  type Config,
  type Metrics,
  type ServiceLogger,
  type MemoryBudget,
  SearchActivity,
  type RequestMemory,
} from './platform/index.js';
import { restoreStopped, type WantedRestore } from './stopped-service.js';
import type { Restored } from './backup/index.js';
import { createLogger, flushLogs } from './platform/logger.js';
import { createMetrics } from './platform/metrics.js';
import { systemTimers } from './platform/work/index.js';
import { unknownEnvironment } from './platform/config.js';
import { createIngestExecutor, createSearchPool } from './workers/index.js';
import { CandidateFinder } from './synonyms/index.js';

const MEBIBYTE = 2 ** 20;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/**
 * Loaded while the search threads load their own code, which the start waits for anyway: these modules are most of the
 * program.
 */
const loadOperations = () => import('./operations/index.js');
const loadFrontEnds = () => import('./http/index.js');
const loadFeatures = () => Promise.all(FEATURES.map(async ({ name, load }) => ({ name, parts: await load() })));
const featureEnvironments = () => FEATURES.flatMap(({ environments = [] }) => environments);
const declaredSettings = () => FEATURES.flatMap(({ settings }) => settings ?? []);

function declared(): Declared {
  return { events: new EventCatalogue(FEATURES.map(({ events = {} }) => events)) };
}

/** Returns the built-in operations, extended by the features, and the operations of the features. */
export async function allOperations(): Promise<readonly Operation[]> {
  const [{ operations, withListExtensions }, features] = await Promise.all([loadOperations(), loadFeatures()]);
  const all = declared();
  const ofFeature = ({ parts }: { parts: FeatureParts }) =>
    typeof parts.operations === 'function' ? parts.operations(all) : parts.operations;
  const extensions = features.flatMap(({ parts }) => parts.lists ?? []);
  return [...withListExtensions(operations, extensions), ...features.flatMap(ofFeature)];
}

export { adoptUnknownLists, findMissingSegments } from './stopped-service.js';

/** Restores a backup, for `gannet restore`. */
export function restoreData(config: Config, wanted: WantedRestore): Promise<Restored> {
  const start = () => startService(config, { listen: false });
  return restoreStopped(config, wanted, { start, assertKnown: dueUpgrades });
}

export interface RunningService {
  readonly services: Services;
  /** Such as `http://127.0.0.1:8400`; undefined if the service does not listen. */
  readonly address: string | undefined;
  /** The web server that listens on `address`; undefined if the service does not listen. */
  readonly webServer: WebServerName | undefined;
  /** Returns what features print to the terminal once the service listens. Never rejects: failures are logged. */
  greetings(): Promise<readonly string[]>;
  /** Answers the requests in flight, refuses new ones and closes everything. Safe to call twice. */
  close(): Promise<void>;
}

/**
 * Ends the process at once, for an operator who does not wait for a stop. Log lines are written; other exit handlers do
 * not run.
 */
export function endProcess(status: number): void {
  flushLogs();
  kernel.endProcess(status);
}

export interface StartOptions {
  /**
   * If false, opens the data directory for this process alone, without HTTP; lists and threads are opened on demand.
   */
  readonly listen: boolean;
}

/**
 * Starts the service. Rejects with an `OperatorError` if the operator can fix the cause, such as directory, lock or
 * port.
 */
export async function startService(config: Config, { listen }: StartOptions): Promise<RunningService> {
  const log = createLogger(config, { stacks: listen });
  const parts = new OpenParts({ log, exit: endProcess });
  const manager = listen ? toldManager(log) : undefined;
  parts.opened('service manager', () => manager?.close());
  try {
    if (listen) await assertPlaceForFirstStart(config, loadFrontEnds);
    for (const name of unknownEnvironment(process.env, declaredSettings()))
      log.warn({ name }, 'Unknown environment variable: no setting has this name');
    if (listen) warnOfMemory(config, log);
    if (listen) tellOfProxies(process.env, log);
    const metrics = createMetrics({ processMetrics: listen });
    const state = { ready: !listen };
    // Must be set before any thread is started.
    useVersionsKept(config.versions.kept);
    const { services, features, warmUp, budget } = await openServices(config, {
      ...{ log, metrics, parts, state, listen, manager },
    });
    const listening = listen ? await listenForRequests(services, metrics, parts, state) : undefined;
    const { address, webServer } = listening ?? {};
    if (listen) {
      await Promise.all([openLists(services), warmUp()]);
      state.ready = true;
      features.start();
      const dataDir = resolve(config.data.dir);
      log.info({ address, webServer, dataDir, build: kernel.build }, 'The service is ready');
    }
    // Not sooner: until here, everything that a start loads has been compiled with V8's default flags.
    tuneGarbageCollection(budget);
    const greetings = () => (address === undefined ? Promise.resolve([]) : greetingsOf(features, address, log));
    const close = once(() => {
      manager?.stopping();
      return parts.close(listen);
    });
    manager?.serving(`Serving on ${address}`);
    return { services, address, webServer, greetings, close };
  } catch (error) {
    await parts.close(false);
    throw error;
  }
}

/** Returns the service manager, such as systemd, that the environment names; undefined if there is none. */
function toldManager(log: ServiceLogger): ServiceManager | undefined {
  const watched = takeServiceManager(process.env);
  return watched && new ServiceManager({ ...watched, kernel, timers: systemTimers, log });
}

async function greetingsOf(features: OpenFeatures, address: string, log: ServiceLogger): Promise<readonly string[]> {
  try {
    return await features.greetings(address);
  } catch (error) {
    log.warn({ err: error }, 'Could not prepare the start messages');
    return [];
  }
}

interface Observed {
  readonly log: ServiceLogger;
  readonly metrics: Metrics;
  readonly parts: OpenParts;
}

interface Foundation extends Observed {
  readonly state: { readonly ready: boolean };
  readonly listen: boolean;
  readonly manager: ServiceManager | undefined;
}

/**
 * Limits the memory of the allocator and of mapped files, and starts to watch and report what is used. Must be called
 * before threads are started.
 */
function watchMemory(config: Config, budget: MemoryBudget, { log, metrics, parts }: Observed): OwnMemory {
  // Before the service has threads of its own: the existing ones belong to V8 and Node.js.
  kernel.setSliceOfOtherThreads(WAITING_SLICE_MS);
  // Before threads are started, since each would get an arena of its own.
  if (budget.allocator !== undefined)
    kernel.limitAllocator(budget.allocator.arenasMax, budget.allocator.returnedBytesMin);
  const mapped = limitMappedMemory({
    kernel,
    dataDir: resolve(config.data.dir),
    mappedBytesMax: config.memory.mapped_mib * MEBIBYTE,
    mappedBusyBytesMax: config.memory.mapped_busy_mib * MEBIBYTE,
  });
  parts.opened('limit of mapped memory', () => mapped.stop());
  const memory = new OwnMemory({ budgetBytes: budget.bytes, releaseFreeMemory: () => kernel.releaseFreeMemory() });
  parts.opened('looks at memory', () => memory.stop());
  metrics.memoryBudgetBytes.set(budget.bytes);
  metrics.beforeReading(() => {
    metrics.memoryOwnBytes.set(residentOwnBytes() ?? 0);
    metrics.logLinesDropped.reset();
    metrics.logLinesDropped.inc(log.droppedLines());
  });
  return memory;
}

interface PoolNeeds {
  readonly budget: MemoryBudget;
  readonly memory: OwnMemory;
  readonly room: ListRoom;
  readonly requestMemory: RequestMemory;
}

/** Creates the ingest executor and the search pool; the threads of each are started on first use. */
function poolsOf(
  config: Config,
  { budget, memory, room, requestMemory }: PoolNeeds,
  { log, metrics, parts }: Observed,
) {
  const searchActivity = new SearchActivity();
  const common = { config, log, metrics };
  const ingestThreads = lazily(() =>
    createIngestExecutor({
      ...common,
      heap: budget.heaps.ingest,
      memory,
      hasThreadForSmall: budget.hasThreadForSmallWrites,
      mergeBytesMax: budget.hasThreadForSmallWrites ? budget.mergeBytesMax : undefined,
      searches: searchActivity.shared,
      room,
    }),
  );
  parts.opened('ingest threads', () => ingestThreads.close());
  const executor: IngestExecutor = {
    get waiting() {
      return ingestThreads.get().waiting;
    },
    waitingByAccount: () => ingestThreads.get().waitingByAccount(),
    run: (task, options) => ingestThreads.get().run(task, options),
  };
  const searchPool = lazily(() =>
    createSearchPool({
      ...common,
      heap: budget.heaps.search,
      requestMemory,
      dearThreadsMax: budget.dearSearchThreadsMax,
      activity: searchActivity,
    }),
  );
  parts.opened('search threads', () => searchPool.close());
  return { executor, searchPool, searchActivity };
}

/**
 * Opens catalogue and access. Throws `OperatorError` if the environment is damaged or does not belong to the lists next
 * to it.
 */
async function openSystem(
  dataDir: string,
  { parts, budget, log, manager }: Pick<Foundation, 'parts' | 'log' | 'manager'> & { readonly budget: MemoryBudget },
  reservedNames: ReadonlySet<string>,
) {
  // If this release does not know the format of one environment, none is changed. Lists are checked when they are
  // opened, and by a restore.
  await bringUp(dataDir, { log, takesUpTo: (ms) => manager?.takesUpTo(ms) });
  const how = { kind: 'system', commitsBeside: true, mappingsLock: kernel.mappingsLock() } as const;
  const environment = await openSystemPart(dataDir, () => openEnvironment(join(dataDir, 'system'), how));
  parts.opened('system environment', () => environment.close());
  const catalog = await openSystemPart(dataDir, () =>
    openCatalog(environment, systemClock, { reservedNames, bytesMax: budget.catalogBytesMax }),
  );
  assertCatalogueFilled(dataDir, catalog.accounts().length);
  const access = await openSystemPart(dataDir, () => openAccess(environment, systemClock));
  parts.opened('uses of keys', () => access.uses.close());
  const faults = new StorageFaults(log);
  const unreadable = new UnreadableCatalogue({ environment, dataDir, faults });
  parts.opened('reading of the catalogue', () => unreadable.close());
  return { environment, catalog, access, faults, unreadable };
}

/**
 * Returns the entry that a list keeps a copy of next to its records; undefined if the catalogue does not have the list.
 */
function entryOf(catalog: Catalog, listId: string) {
  const list = catalog.listOfId(listId);
  const region = list === undefined ? undefined : catalog.account(list.account)?.region;
  return list === undefined || region === undefined ? undefined : { list, region };
}

/** Opens everything but the front ends. */
async function openServices(
  config: Config,
  { log, metrics, parts, state, listen, manager }: Foundation,
): Promise<{ services: Services; features: OpenFeatures; warmUp: () => Promise<void>; budget: MemoryBudget }> {
  const dataDir = resolve(config.data.dir);
  const budget = memoryBudget(config);
  const directory = openDataDirectory(dataDir, { log, serves: listen });
  parts.opened('lock', () => directory.release());
  assertCatalogueStored(dataDir);
  const memory = watchMemory(config, budget, { log, metrics, parts });
  const room = new ListRoom();
  const requestMemory = createRequestMemory(budget, { letGo: () => memory.letGo() });
  const pools = poolsOf(config, { budget, memory, room, requestMemory }, { log, metrics, parts });
  const { executor, searchPool, searchActivity } = pools;
  const synonymCandidates = new CandidateFinder({ config, log, metrics });
  parts.opened('thread of synonyms', () => synonymCandidates.close());
  // Threads take longest to start: they begin now, and are ready when the lists are.
  if (listen) searchPool.get();
  const [{ AnswerCache, OpenFeatures, reservedAccountNames }, features, operations] = await Promise.all([
    loadOperations(),
    loadFeatures(),
    allOperations(),
  ]);
  const opened = await openSystem(dataDir, { parts, budget, log, manager }, reservedAccountNames(operations));
  const { environment, catalog, access, faults, unreadable } = opened;
  await ensureAccount(catalog, config, log);
  const secrets = secretsOf(dataDir, config, environment);
  const open = new OpenFeatures();
  const progress = new ProgressBoard();
  const indexes: ListIndexes = createListIndexes({
    dataDir,
    kernel,
    executor,
    clock: systemClock,
    log,
    config,
    metrics,
    events: open.events,
    entryOf: (listId) => entryOf(catalog, listId),
    room,
    progress,
    onOtherUnreadable: (path) => unreadable.metFile(path),
    // A command serves nobody else meanwhile, and closes what it opens when it ends.
    waitForRebuild: !listen,
  });
  parts.opened('lists', () => indexes.close());
  // After the lists, so that features, which read from the lists' stores, are closed first.
  const environments = featureEnvironments();
  const data = { config, dataDir, environment, environments, catalog, access, indexes, secrets, progress, faults };
  await openFeatures(open, features, { ...data, searchActivity, clock: systemClock, log, metrics, listen }, parts);

  const services: Services = {
    config,
    requestMemory,
    log,
    clock: systemClock,
    catalog,
    access,
    indexes,
    searchPool: { search: (task, signal, account) => searchPool.get().search(task, signal, account) },
    answerCache: new AnswerCache({ bytesMax: config.search.cache_mib * MEBIBYTE, metrics, memory }),
    runningChanges: new Map(),
    synonymCandidates,
    ...open.services,
    secrets,
    progress,
    ...limitersOf(config),
    ...cataloguesOf(operations),
    ...stateOf({ ...data, budgetBytes: budget.bytes, features: open, metrics, log }, parts),
    ...standingOf(state, dataDir, faults),
  };
  return { services, features: open, warmUp: () => searchPool.get().warmUp(), budget };
}

async function openFeatures(
  open: OpenFeatures,
  features: Awaited<ReturnType<typeof loadFeatures>>,
  platform: Parameters<OpenFeatures['open']>[1],
  parts: OpenParts,
): Promise<void> {
  const { environment, dataDir, clock } = platform;
  const source = { id: 'system', kind: 'system', path: join(dataDir, 'system') } as const;
  CollectionStore.of(environment).listen({ sink: open.events, source, clock });
  for (const { name, parts: brought } of features) {
    const opened = await open.open(brought, platform);
    parts.opened(name, () => opened.close?.());
  }
  await sealSecrets(platform.secrets, platform.log);
  // Delivers the events that the previous process had left in the outbox.
  open.events.written(source, 0);
}

/** Returns the catalogues of permissions and events, from what all operations and features declare. */
function cataloguesOf(operations: readonly Operation[]): Pick<Services, 'permissions' | 'events' | 'operations'> {
  const permissions = new PermissionCatalogue(operations.map(({ permission }) => permission));
  return { operations, permissions, events: declared().events };
}

function limitersOf({ search, keys }: Config): Pick<Services, 'searchLimiter' | 'readOnlyKeyLimiter'> {
  return {
    searchLimiter: new RateLimiter({ limit: search.rate_per_minute, windowMs: MINUTE_MS }, systemClock),
    readOnlyKeyLimiter: new RateLimiter({ limit: keys.read_only_per_hour, windowMs: HOUR_MS }, systemClock),
  };
}

/** Opens HTTP and the control socket; both answer `not-ready` until the lists are open. */
async function listenForRequests(
  services: Services,
  metrics: Metrics,
  parts: OpenParts,
  state: { ready: boolean },
): Promise<{ readonly address: string; readonly webServer: WebServerName }> {
  const { config } = services;
  const { host, port: configuredPort, body_idle_seconds_max, trusted_proxies } = config.server;
  const fronts = await loadFrontEnds();
  const { createDispatcher } = await loadOperations();
  const requests = fronts.createRequestServer({
    services,
    dispatcher: createDispatcher(services),
    metrics,
    openSite: () => openConsole(config),
  });
  const server = fronts.createHttpServer({
    carriedBy: fronts.webServerOf(config.server.web_server, services.log),
    handle: requests.handle,
    host,
    port: configuredPort,
    answers: services.requestMemory.answers,
    bodyIdleMsMax: body_idle_seconds_max * 1000,
    visitors: { publicUrl: config.console.public_url, trustedProxies: trusted_proxies },
    connections: fronts.loggedConnectionRoom(services.log, metrics),
  });
  // Before anything listens: an open listener would keep the process alive if this failed.
  const socket = makeControlSocketPath(config.data.dir);
  parts.opened('path of the control socket', () => socket.remove());
  const port = await server.listen();
  const control = fronts.createControlSocket(socket.path, requests.handle);
  const shutdownMs = config.server.shutdown_seconds * 1000;
  parts.opened('HTTP', async () => {
    state.ready = false;
    server.stopListening();
    await requests.drain(shutdownMs);
    await Promise.all([server.close(shutdownMs), control.close()]);
  });
  await control.listen();
  const address = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  return { address, webServer: server.webServer };
}

async function openConsole({ console: { public_url } }: Config): Promise<Site> {
  const { openConsoleSite } = await import('./console/index.js');
  const folder = join(packageRoot(), 'dist', 'console-assets');
  return openConsoleSite({ folder, tls: public_url.startsWith('https:') });
}

async function ensureAccount(catalog: Catalog, { account }: Config, log: ServiceLogger): Promise<void> {
  if (catalog.accounts().length > 0) return;
  await catalog.createAccount(account.name, account.region);
  log.info(
    { account: account.name },
    `First start: created the account. Create its first API key: gannet key create --account ${account.name} --access full`,
  );
}

/**
 * Finishes work that a crash interrupted, moves unknown list folders aside, and opens the lists that were used last.
 */
async function openLists(services: Services): Promise<void> {
  const { catalog, indexes } = services;
  const lists = () => catalog.accounts().flatMap(({ name }) => catalog.lists(name));
  const { finishWork, searchSettings } = await loadOperations();
  await Promise.all(catalog.unfinished().map((work) => finishWork(services, work)));
  // A list whose removal could not be finished is still known by its id; the next start tries again to remove it.
  const known = [...lists(), ...catalog.unfinished().filter(({ kind }) => kind === 'removing')];
  indexes.setUnknownAside(new Set(known.map(({ id }) => id)));
  await indexes.resume(() => lists().map((list) => ({ id: list.id, settings: searchSettings(list) })));
}

function once(action: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined;
  return () => (done ??= action());
}
