import { expect, it } from 'vitest';
import { eventually } from '../../../test/support/eventually.js';
import { answeredDuringStandstill, beforeTimers } from '../../../test/support/standstill.js';
import { Host, type Vessel } from './host.js';
import type { Protocol } from './protocol.js';

interface Asked extends Protocol {
  readonly questions: { readonly any: { readonly ask: null; readonly answer: null } };
  readonly notices: { readonly told: null };
  readonly events: Record<never, never>;
}

const OPTIONS = { entry: '', data: null, heapMibMax: 1, niceness: 0, onBug: () => undefined };

it('Host reports to callers that no worker can be started, and retries by itself later without ending the process', async () => {
  let tries = 0;
  const launch = (): Vessel => {
    tries += 1;
    throw Object.assign(new Error('spawn ENOMEM'), { code: 'ENOMEM', syscall: 'spawn' });
  };
  const deaths: string[] = [];
  const host = new Host<Asked>(
    {
      ...OPTIONS,
      name: 'refused',
      onDeath: ({ message }) => deaths.push(message),
      isKeptAlive: () => true,
    },
    { launch, killsLateCalls: true },
  );
  await expect(host.call('any', null)).rejects.toMatchObject({ code: 'resources-exhausted' });
  host.notify('told', null);
  await eventually(
    () => Promise.resolve(tries),
    (count) => count >= 3,
  );
  await host.close();
  expect(deaths.slice(0, 3)).toEqual(Array.from({ length: 3 }, () => 'spawn ENOMEM'));
});

it('A worker that answers while this process stands still is in time, and is not killed', async () => {
  const msMax = 100;
  let kills = 0;
  const host = new Host<Asked>(
    { ...OPTIONS, name: 'in time', onDeath: () => undefined },
    {
      killsLateCalls: true,
      launch: ({ onMessage, onExit }) => ({
        say(message) {
          if (message.kind === 'close') onExit(undefined);
          if (message.kind !== 'question') return;
          void answeredDuringStandstill(3 * msMax).then(() =>
            onMessage({ kind: 'answer', number: message.number, reply: { ok: true, value: null } }),
          );
        },
        kill: () => (kills += 1),
      }),
    },
  );
  await beforeTimers();
  expect(await host.call('any', null, { msMax })).toBeNull();
  await host.close();
  expect(kills).toBe(0);
});
