/** How long the rest of a request that is answered already is waited for, by a response that notes what is done to it. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { dropRest } from './lingering.js';
import type { WireResponse } from './wire.js';

/** Half of the time after which the library closes a connection at the earliest. */
const HALF_TIMEOUT_MS = 4000;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
});
afterEach(() => {
  vi.useRealTimers();
});

function lingering() {
  const seen = {
    restarts: 0,
    isPaused: false,
    isEnded: false,
    arrived: (_chunk: ArrayBuffer, _isLast: boolean): void => undefined,
  };
  const res = {
    pause: () => (seen.isPaused = true),
    resume() {
      if (seen.isPaused) seen.restarts += 1;
      seen.isPaused = false;
    },
    onData: (listener: typeof seen.arrived) => (seen.arrived = listener),
  } as unknown as WireResponse;
  return { seen, stop: dropRest(res, { isAwaited: true }, () => (seen.isEnded = true)) };
}

it('The timeout of the library is restarted at once, and from then on twice as often as it ends', () => {
  const { seen, stop } = lingering();
  expect(seen).toMatchObject({ restarts: 1, isPaused: false });
  vi.advanceTimersByTime(2 * HALF_TIMEOUT_MS);
  expect(seen).toMatchObject({ restarts: 3, isPaused: false, isEnded: false });
  stop();
  vi.advanceTimersByTime(600_000);
  expect(seen).toMatchObject({ restarts: 3, isEnded: false });
});

it('A client that sends slowly has two minutes, one that sends nothing half a minute', () => {
  const { seen: slow } = lingering();
  const { seen: silent } = lingering();
  for (let ms = 0; ms < 120_000; ms += HALF_TIMEOUT_MS) {
    vi.advanceTimersByTime(HALF_TIMEOUT_MS);
    slow.arrived(new ArrayBuffer(1), false);
    if (ms <= 20_000) expect(silent.isEnded).toBe(false);
    if (ms >= 32_000) expect(silent.isEnded).toBe(true);
  }
  expect(slow.isEnded).toBe(false);
  vi.advanceTimersByTime(HALF_TIMEOUT_MS);
  expect(slow.isEnded).toBe(true);
});

it('The connection is closed when the rest has arrived, after what the turn writes', async () => {
  const { seen } = lingering();
  seen.arrived(new ArrayBuffer(1), true);
  expect(seen.isEnded).toBe(false);
  await new Promise(setImmediate);
  expect(seen.isEnded).toBe(true);
});
