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

describe('the environment variables of a service manager', () => {
  it('are removed, so that programs which the service starts do not report in its name', () => {
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
  ])('may contain %s', (_, env, watched) => {
    expect(takeServiceManager(env, 7)).toEqual(watched);
  });
});

describe('ServiceManager', () => {
  it('asks for more time while a start takes long, and reports when the service is ready', async () => {
    const { manager, timers, messages } = told();
    await timers.pass(25_000, settled);
    expect(messages()).toEqual(['EXTEND_TIMEOUT_USEC=60000000', 'EXTEND_TIMEOUT_USEC=60000000']);
    manager.serving('Serving on http://127.0.0.1:8400');
    expect(messages()).toEqual(['READY=1\nSTATUS=Serving on http://127.0.0.1:8400']);
    await timers.pass(3_600_000, settled);
    expect(messages()).toEqual([]);
  });

  it('asks for more time while a stop takes long, and stops asking once it is over', async () => {
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

  it('sends a sign of life twice in each watchdog period', async () => {
    const { manager, timers, messages } = told({ watchdogMs: 2000 });
    manager.serving('Serving');
    messages();
    await timers.pass(3500, settled);
    expect(messages()).toEqual(['WATCHDOG=1', 'WATCHDOG=1', 'WATCHDOG=1']);
  });

  it('repeats a message that the socket had no room for a moment later, and only the last one', async () => {
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

  it('logs a lost service manager once, and the service goes on', async () => {
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

it('ServiceManager announces how long a start will block its thread, so that it is not killed amid an upgrade', () => {
  const { manager, messages } = told();
  manager.takesUpTo(161_500);
  expect(messages()).toEqual(['EXTEND_TIMEOUT_USEC=161500000']);
});
