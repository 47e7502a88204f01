/** What the example feature does: three operations, a worker, a count stored on disk, an event and a metric. */
import { join } from 'node:path';
import type { Database } from 'lmdb';
import { Counter } from 'prom-client';
import { Type } from 'typebox';
import { CollectionStore } from '../../../../src/catalog/index.js';
import {
  accountParams,
  defineOperation,
  object,
  provide,
  type FeatureParts,
} from '../../../../src/operations/index.js';
import { createWorkerThread, loggedWorker, type Host } from '../../../../src/platform/hosts/index.js';
import {
  compiledFile,
  EVERY_ROW,
  openEnvironment,
  ServiceError,
  serviceKey,
  settingsOf,
  type LmdbEnvironment,
} from '../../../../src/platform/index.js';
import { ECHO_FORMAT, ECHO_SETTINGS, TOO_LOUD } from './declarations.js';
import type { EchoProtocol } from './echo-protocol.js';
import { LaterEchoes } from './later-echoes.js';

const COUNT = 'said';

class Echoes {
  readonly #counts: Database<number, string>;
  readonly #said: CollectionStore;

  constructor(
    readonly host: Host<EchoProtocol>,
    readonly charactersMax: number,
    private readonly environment: LmdbEnvironment,
    system: LmdbEnvironment,
  ) {
    this.#counts = environment.database('counts');
    this.#said = CollectionStore.of(system);
  }

  get count(): number {
    return this.#counts.get(COUNT) ?? 0;
  }

  async say(account: string, text: string): Promise<string> {
    if (text.length > this.charactersMax)
      throw new ServiceError('invalid-parameter', `A text has ${this.charactersMax} characters at most.`);
    if (text !== text.toLowerCase()) throw new ServiceError(TOO_LOUD, 'Say it in lower-case letters.');
    const said = await this.host.call('reverse', text);
    await this.environment.transaction(() => this.#counts.putSync(COUNT, this.count + 1));
    // The event is committed in the transaction of what it is about.
    await this.#said.change((change) => {
      change.put(this.#said.collection('echoes'), account, { account, text });
      change.emit(account, { type: 'echo.said', id: account, list: '', data: { text } });
    });
    return said;
  }

  async close(): Promise<void> {
    await this.host.close();
    await this.environment.close();
  }
}

const ECHOES = serviceKey<Echoes>('echoes');
const LATER_ECHOES = serviceKey<LaterEchoes>('later-echoes');
const shared = { target: 'account', callers: ['key', 'console', 'cli'], params: accountParams } as const;

const say = defineOperation({
  ...shared,
  name: 'echo.say',
  summary: 'Say a text backwards',
  method: 'POST',
  path: '/echo/{account}',
  permission: 'echo:say',
  body: object({ text: Type.String({ maxLength: 100, description: 'What is said' }) }),
  responses: { 200: { description: 'The text from its end', schema: object({ text: Type.String() }) } },
  errors: [TOO_LOUD, 'storage-full'],
  handle: async ({ services }, { params, body }) => ({
    status: 200,
    body: { text: await services.part(ECHOES).say(params.account, body.text) },
  }),
});

const sayLater = defineOperation({
  ...shared,
  name: 'echo.later',
  summary: 'Say a text backwards after some seconds',
  method: 'POST',
  path: '/echo/{account}/later',
  permission: 'echo:say',
  body: object({
    text: Type.String({ maxLength: 100, description: 'What is said' }),
    seconds: Type.Integer({ minimum: 0, maximum: 3600, description: 'How long it takes to come back' }),
  }),
  responses: { 202: { description: 'It will be said', schema: object({ seconds: Type.Integer() }) } },
  errors: ['storage-full'],
  async handle({ services }, { params, body: { text, seconds } }) {
    await services.part(LATER_ECHOES).say(params.account, text, seconds * 1000);
    return { status: 202, body: { seconds } };
  },
});

const count = defineOperation({
  ...shared,
  name: 'echo.count',
  tool: 'echo_how_often',
  summary: 'How often something was said',
  method: 'GET',
  path: '/echo/count/{account}',
  permission: 'echo:read',
  responses: { 200: { description: 'The count', schema: object({ count: Type.Integer({ minimum: 0 }) }) } },
  handle: ({ services }) => ({ status: 200, body: { count: services.part(ECHOES).count } }),
});

export const echoParts: FeatureParts = {
  operations: [say, sayLater, count],
  lists: {
    settings: {
      echo_voice: {
        schema: Type.String({ maxLength: 20, description: 'In whose voice the list echoes' }),
        initial: 'nobody',
        check(_services, _account, value) {
          if (value === 'the sea') throw new ServiceError('unprocessable', 'The sea has no voice of its own.');
        },
      },
    },
    members: {
      echoes: {
        schema: object({ count: Type.Integer({ minimum: 0 }) }),
        read: (services) => ({ count: services.part(ECHOES).count }),
      },
    },
  },
  open({ config, dataDir, environment, progress, log, metrics }) {
    const host = createWorkerThread<EchoProtocol>({
      name: 'echo',
      entry: compiledFile('src/echo/echo.worker'),
      data: undefined,
      heapMibMax: 64,
      niceness: 0,
      ...loggedWorker('echo', { log, metrics }),
    });
    const kept = openEnvironment(join(dataDir, 'echo'), { kind: ECHO_FORMAT });
    const echoes = new Echoes(host, settingsOf(config, ECHO_SETTINGS).text_characters_max, kept, environment);
    const later = new LaterEchoes(host, environment, (error) => {
      log.error({ error }, 'what an echo has become cannot be written');
    });
    const said = new Counter({ name: 'gannet_echoes_total', help: 'What was said', registers: [metrics.registry] });
    metrics.beforeReading(() => {
      said.reset();
      said.inc(echoes.count);
    });
    const owner = { account: 'default', name: 'the cave', permission: 'echo:read' };
    progress.begin({ kind: 'listening', subject: 'cave', owner, total: null }).start();
    const heard = new Counter({ name: 'gannet_echoes_heard_total', help: 'Commits', registers: [metrics.registry] });
    return {
      parts: [provide(ECHOES, echoes), provide(LATER_ECHOES, later)],
      // The feature only counts commits, and reads no row.
      events: {
        wanted: () => ['list.created'],
        eventTime: (_account, nowMs) => nowMs,
        written: () => {
          heard.inc();
        },
        movedTo: () => EVERY_ROW,
        removableTo: () => EVERY_ROW,
        drained: () => Promise.resolve(),
      },
      start: () => {
        later.start();
      },
      async forget({ subject, account }) {
        if (subject === 'account') await later.forget(account);
        return true;
      },
      async close() {
        await later.close();
        await echoes.close();
      },
    };
  },
};
