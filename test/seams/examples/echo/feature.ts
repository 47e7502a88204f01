/** A feature in a folder: two operations, a part of its own, a worker, a measurement. */
import { Counter } from 'prom-client';
import { Type } from 'typebox';
import { accountParams, defineOperation, object, provide, type Feature } from '../../../../src/operations/index.js';
import { createWorkerThread, loggedWorker, type Host } from '../../../../src/platform/hosts/index.js';
import { compiledFile, serviceKey } from '../../../../src/platform/index.js';
import type { EchoProtocol } from './echo-protocol.js';

interface Echoes {
  readonly host: Host<EchoProtocol>;
  count: number;
}

const ECHOES = serviceKey<Echoes>('echoes');
const shared = {
  path: '/echo/{account}',
  target: 'account',
  permission: 'account:read',
  callers: ['key', 'console', 'cli'],
  params: accountParams,
} as const;

const say = defineOperation({
  ...shared,
  name: 'echo.say',
  summary: 'Say a text backwards',
  method: 'POST',
  body: object({ text: Type.String({ maxLength: 100, description: 'What is said' }) }),
  responses: { 200: { description: 'The text from its end', schema: object({ text: Type.String() }) } },
  async handle({ services }, { body }) {
    const echoes = services.part(ECHOES);
    echoes.count += 1;
    return { status: 200, body: { text: await echoes.host.call('reverse', body.text) } };
  },
});

const count = defineOperation({
  ...shared,
  name: 'echo.count',
  summary: 'How often something was said',
  method: 'GET',
  responses: { 200: { description: 'The count', schema: object({ count: Type.Integer({ minimum: 0 }) }) } },
  handle: ({ services }) => ({ status: 200, body: { count: services.part(ECHOES).count } }),
});

export const echo: Feature = {
  name: 'echo',
  operations: [say, count],
  open({ log, metrics }) {
    const host = createWorkerThread<EchoProtocol>({
      name: 'echo',
      entry: compiledFile('src/echo/echo.worker'),
      data: undefined,
      heapMibMax: 64,
      niceness: 0,
      ...loggedWorker('echo', { log, metrics }),
    });
    const echoes: Echoes = { host, count: 0 };
    const said = new Counter({ name: 'gannet_echoes_total', help: 'What was said', registers: [metrics.registry] });
    metrics.beforeReading(() => {
      said.reset();
      said.inc(echoes.count);
    });
    return { parts: [provide(ECHOES, echoes)], close: () => host.close() };
  },
};
