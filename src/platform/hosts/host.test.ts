import { expect, it } from 'vitest';
import { eventually } from '../../../test/support/eventually.js';
import { Host, type Vessel } from './host.js';
import type { Protocol } from './protocol.js';

interface Asked extends Protocol {
  readonly questions: { readonly any: { readonly ask: null; readonly answer: null } };
  readonly notices: { readonly told: null };
  readonly events: Record<never, never>;
}

it('Host reports to callers that no worker can be started, and retries by itself later without ending the process', async () => {
  let tries = 0;
  const launch = (): Vessel => {
    tries += 1;
    throw Object.assign(new Error('spawn ENOMEM'), { code: 'ENOMEM', syscall: 'spawn' });
  };
  const deaths: string[] = [];
  const host = new Host<Asked>(
    {
      name: 'refused',
      entry: '',
      data: null,
      heapMibMax: 1,
      niceness: 0,
      onDeath: ({ message }) => deaths.push(message),
      onBug: () => undefined,
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
