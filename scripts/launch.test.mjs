/** Whoever asks a fresh clone what a command takes is not made to wait for its set-up. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';

it('answers --help of a fresh clone without setting it up', () => {
  const clone = mkdtempSync(join(tmpdir(), 'gannet-launch-'));
  onTestFinished(() => rmSync(clone, { recursive: true }));
  cpSync(import.meta.dirname, join(clone, 'scripts'), { recursive: true });
  const told = execFileSync(process.execPath, ['scripts/launch.mjs', 'demo', '--help'], { cwd: clone });
  expect(String(told)).toMatch(/^Gannet is not set up yet: `npm run setup` .*`npx gannet demo --help`/);
  expect(readdirSync(clone)).toEqual(['scripts']);
});
