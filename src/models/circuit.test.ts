import { describe, expect, it } from 'vitest';
import { SimulatedTimers } from '../../test/support/simulated-timers.js';
import { Circuit } from './circuit.js';
import { ModelError } from './model-error.js';

const settled = () => Promise.resolve();
const broken = (retryAfterMs?: number) =>
  new ModelError('It is broken.', { retry: 'later', ...(retryAfterMs === undefined ? {} : { retryAfterMs }) });

function begun() {
  const timers = new SimulatedTimers();
  const circuit = new Circuit(timers, { failuresMax: 3, waitMsFirst: 1000, waitMsMax: 4000 });
  const fail = (retryAfterMs?: number) => {
    circuit.failed(broken(retryAfterMs), circuit.enter());
  };
  return { timers, circuit, fail };
}

describe('Circuit', () => {
  it('opens after several failures, tries again with one call, and waits longer each time', async () => {
    const { timers, circuit, fail } = begun();
    fail();
    fail();
    circuit.enter();
    circuit.succeeded();
    fail();
    fail();
    expect(circuit.isOpen).toBe(false);
    fail();
    for (const waitMs of [1000, 2000, 4000, 4000]) {
      expect(() => {
        circuit.enter();
      }).toThrow('It is broken.');
      await timers.pass(waitMs - 1, settled);
      expect(circuit.isOpen).toBe(true);
      await timers.pass(1, settled);
      const trial = circuit.enter();
      // Calls during the trial are refused as temporary.
      expect(() => {
        circuit.enter();
      }).toThrow(ModelError);
      circuit.failed(broken(), trial);
    }
    await timers.pass(4000, settled);
    circuit.enter();
    circuit.succeeded();
    expect(circuit.isOpen).toBe(false);
    expect(circuit.failure).toBeUndefined();
    circuit.enter();
  });

  it('waits no longer if several calls fail together than if one fails', async () => {
    const { timers, circuit } = begun();
    const failAtOnce = (count: number) => {
      const entered = Array.from({ length: count }, () => circuit.enter());
      for (const turn of entered) circuit.failed(broken(), turn);
    };
    failAtOnce(6);
    await timers.pass(1000, settled);
    expect(circuit.isOpen).toBe(false);
    failAtOnce(1);
    await timers.pass(1999, settled);
    expect(circuit.isOpen).toBe(true);
    await timers.pass(1, settled);
    expect(circuit.isOpen).toBe(false);
  });

  it('makes its trial with one call alone, even if earlier calls are aborted or fail meanwhile', async () => {
    const { timers, circuit, fail } = begun();
    const late = [circuit.enter(), circuit.enter()];
    for (let at = 0; at < 3; ++at) fail();
    await timers.pass(1000, settled);
    circuit.enter();
    circuit.abandoned(late[0] as number);
    const enter = () => circuit.enter();
    expect(enter).toThrow('It is broken.');
    circuit.failed(broken(), late[1] as number);
    expect(enter).toThrow('It is broken.');
  });

  it('waits for the given time, and tells it to refused calls', async () => {
    const { timers, circuit, fail } = begun();
    fail(30_000);
    try {
      circuit.enter();
      expect.unreachable();
    } catch (error) {
      expect(error).toMatchObject({ retry: 'later', retryAfterMs: 30_000 });
    }
    await timers.pass(30_000, settled);
    circuit.enter();
    circuit.succeeded();
  });

  it('limits a wait of days', async () => {
    const { timers, circuit, fail } = begun();
    fail(86_400_000 * 30);
    await timers.pass(3_600_000, settled);
    circuit.enter();
  });

  it('is not opened by aborted calls', async () => {
    const { timers, circuit, fail } = begun();
    fail();
    fail();
    fail();
    await timers.pass(1000, settled);
    circuit.abandoned(circuit.enter());
    expect(circuit.isOpen).toBe(false);
  });
});
