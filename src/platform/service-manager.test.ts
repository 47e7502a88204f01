import { describe, expect, it } from 'vitest';
import { SimulatedTimers } from '../../test/support/simulated-timers.js';
import { ServiceManager, takeServiceManager, type Watched } from './service-manager.js';

const SOCKET = '/run/systemd/notify';
const settled = () => Promise.resolve();

function told(watched: Partial<Watched> = {}) {
  const timers = new SimulatedTimers();
  const sent: string[] = [];
  const warned: object[] = [];
  const state = { answer: (): boolean => true };
  const kernel = {
    notifyServiceManager(socket: string, text: string) {
      const taken = state.answer();
      if (taken) sent.push(`${socket} ${text}`);
      return taken;
    },
  };
  const log = { warn: (figures: object) => warned.push(figures) };
  const options = { socket: SOCKET, watchdogMs: undefined, ...watched };
  const manager = new ServiceManager({ ...options, kernel, timers, log: log as never });
  return {
    manager,
    timers,
    sent,
    warned,
    state,
    messages: () => sent.splice(0).map((line) => line.slice(SOCKET.length + 1)),
  };
}

describe('what a service manager put into the environment', () => {
  it('is taken out, so that programs which the service starts do not speak for it', () => {
    const env = { NOTIFY_SOCKET: SOCKET, WATCHDOG_USEC: '2000000', WATCHDOG_PID: '7', PATH: '/bin' };
    expect(takeServiceManager(env, 7)).toEqual({ socket: SOCKET, watchdogMs: 2000 });
    expect(env).toEqual({ PATH: '/bin' });
  });

  it.each([
    ['no manager', {}, undefined],
    ['an empty name', { NOTIFY_SOCKET: '' }, undefined],
    ['a kind of socket that is not known here', { NOTIFY_SOCKET: 'vsock:2:1234' }, undefined],
    ['a socket outside of the file system', { NOTIFY_SOCKET: '@x' }, { socket: '@x', watchdogMs: undefined }],
    [
      'a watchdog of another process',
      { NOTIFY_SOCKET: '/s', WATCHDOG_USEC: '1000', WATCHDOG_PID: '8' },
      { socket: '/s', watchdogMs: undefined },
    ],
    ['a watchdog of whoever it is', { NOTIFY_SOCKET: '/s', WATCHDOG_USEC: '1000' }, { socket: '/s', watchdogMs: 1 }],
    [
      'a watchdog that never waits',
      { NOTIFY_SOCKET: '/s', WATCHDOG_USEC: '0' },
      { socket: '/s', watchdogMs: undefined },
    ],
    [
      'a watchdog that is no number',
      { NOTIFY_SOCKET: '/s', WATCHDOG_USEC: 'soon' },
      { socket: '/s', watchdogMs: undefined },
    ],
  ])('may be %s', (_, env, watched) => {
    expect(takeServiceManager(env, 7)).toEqual(watched);
  });
});

describe('the service manager', () => {
  it('is asked for time by a start that takes long, and told when the service serves', async () => {
    const { manager, timers, messages } = told();
    await timers.pass(25_000, settled);
    expect(messages()).toEqual(['EXTEND_TIMEOUT_USEC=60000000', 'EXTEND_TIMEOUT_USEC=60000000']);
    manager.serving('Serving on http://127.0.0.1:8400');
    expect(messages()).toEqual(['READY=1\nSTATUS=Serving on http://127.0.0.1:8400']);
    await timers.pass(3_600_000, settled);
    expect(messages()).toEqual([]);
  });

  it('is asked for time by a stop that takes long, and no more once it is over', async () => {
    const { manager, timers, messages } = told();
    manager.serving('Serving');
    manager.stopping();
    await timers.pass(10_000, settled);
    expect(messages()).toEqual([
      'READY=1\nSTATUS=Serving',
      'STOPPING=1\nSTATUS=Stopping',
      'EXTEND_TIMEOUT_USEC=60000000',
    ]);
    manager.close();
    await timers.pass(100_000, settled);
    expect(messages()).toEqual([]);
  });

  it('hears twice in the time of its watchdog that the service lives', async () => {
    const { manager, timers, messages } = told({ watchdogMs: 2000 });
    manager.serving('Serving');
    messages();
    await timers.pass(3500, settled);
    expect(messages()).toEqual(['WATCHDOG=1', 'WATCHDOG=1', 'WATCHDOG=1']);
  });

  it('that has no room for a message gets it a moment later, and the last of them alone', async () => {
    const { manager, timers, messages, state } = told({ watchdogMs: 2000 });
    state.answer = () => false;
    manager.serving('Serving');
    await timers.pass(1000, settled);
    state.answer = () => true;
    await timers.pass(100, settled);
    expect(messages()).toEqual(['READY=1\nSTATUS=Serving']);
    state.answer = () => false;
    manager.serving('Serving');
    manager.stopping();
    state.answer = () => true;
    await timers.pass(100, settled);
    expect(messages()).toEqual(['STOPPING=1\nSTATUS=Stopping']);
  });

  it('that has gone is told in the log, once, and the service serves on', async () => {
    const { manager, timers, warned, state } = told({ watchdogMs: 2000 });
    state.answer = () => {
      throw new Error('cannot send to the socket: Connection refused');
    };
    manager.serving('Serving');
    await timers.pass(10_000, settled);
    manager.stopping();
    expect(warned).toEqual([{ err: expect.any(Error) as Error, socket: SOCKET }]);
  });
});

it('a start that keeps its thread for long says for how long beforehand: it was ended amid an upgrade, and began anew', () => {
  const { manager, messages } = told();
  manager.takesUpTo(161_500);
  expect(messages()).toEqual(['EXTEND_TIMEOUT_USEC=161500000']);
});
