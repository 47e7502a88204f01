/** How much accounts may use models in a week: counted on disk, reserved during a call, and renewed each Monday. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openEnvironment, type LmdbEnvironment } from '../platform/index.js';
import { AiAllowance } from './ai-allowance.js';
import { makeAccounts } from '../../test/support/made-accounts.js';

const SUNDAY_MS = Date.UTC(2026, 10, 22, 23, 59, 59);
const MONDAY_MS = Date.UTC(2026, 10, 23);
const LIMIT = 10;

let folder: string;
let environment: LmdbEnvironment;
let nowMs: number;
let allowance: AiAllowance;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gannet-allowance-'));
  nowMs = SUNDAY_MS;
  await open();
});
afterEach(async () => {
  await environment.close();
  rmSync(folder, { recursive: true });
});

async function open() {
  environment = openEnvironment(join(folder, 'system'), { kind: 'system' });
  await makeAccounts(environment, 'a', 'b');
  const clock = { nowMs: () => nowMs, nowIso: () => new Date(nowMs).toISOString() };
  allowance = new AiAllowance(environment, { clock, limit: LIMIT });
}

it('The allowance is counted by account, and kept over a restart', async () => {
  expect(allowance.reserve('a', 4)).toBe(4);
  await allowance.spend('a', 4, 3);
  await environment.close();
  await open();
  expect(allowance.of('a')).toEqual({ used: 3, limit: LIMIT, resets_utc: '2026-11-23T00:00:00.000Z' });
  expect(allowance.of('b').used).toBe(0);
  await allowance.forget('a');
  expect(allowance.of('a').used).toBe(0);
});

it('The allowance is never exceeded, however many reserve it at once', async () => {
  const reserved = Array.from({ length: 5 }, () => allowance.reserve('a', 4));
  expect(reserved).toEqual([4, 4, 2, 0, 0]);
  await Promise.all(reserved.filter((each) => each > 0).map((each) => allowance.spend('a', each, each)));
  expect(allowance.of('a').used).toBe(LIMIT);
  expect(allowance.reserve('a', 1)).toBe(0);
});

it('A reserved allowance is returned if it was not used', async () => {
  expect(allowance.reserve('a', 20)).toBe(LIMIT);
  expect(allowance.reserve('a', 1)).toBe(0);
  await allowance.spend('a', LIMIT, 0);
  expect(allowance.reserve('a', 1)).toBe(1);
});

it('The allowance starts again on Monday, and also if the clock is set back', async () => {
  await allowance.spend('a', allowance.reserve('a', LIMIT), LIMIT);
  nowMs = MONDAY_MS;
  expect(allowance.of('a')).toMatchObject({ used: 0, resets_utc: '2026-11-30T00:00:00.000Z' });
  await allowance.spend('a', allowance.reserve('a', 1), 1);
  nowMs = Date.UTC(2026, 0, 1);
  expect(allowance.of('a').used).toBe(0);
});

it('The allowance is that of the current week, even if the clock was ten years ahead for a while', async () => {
  await allowance.spend('a', allowance.reserve('a', LIMIT), LIMIT);
  nowMs += 3_650 * 86_400_000;
  await allowance.spend('a', allowance.reserve('a', 2), 2);
  expect(allowance.of('a').used).toBe(2);
  nowMs = SUNDAY_MS;
  await environment.close();
  await open();
  expect(allowance.of('a').used).toBe(LIMIT);
  expect(allowance.reserve('a', 1)).toBe(0);
});
