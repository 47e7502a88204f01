/** A standstill of this process, as on a busy machine, during which what it waits for is answered. */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Resolves in a turn after which timers come first, and what has arrived second. */
export const beforeTimers = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** Stands still for so long, and until another process has written this file. */
export function standStill(milliseconds: number, file: string): void {
  const endMs = performance.now() + milliseconds;
  while (performance.now() < endMs || !existsSync(file)) continue;
}

/** Stands still for so long, and until another process has answered. Resolves when the answer is read. */
export function answeredDuringStandstill(milliseconds: number): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'gannet-standstill-'));
  const child = spawn('/bin/sh', ['-c', 'printf "the answer"; : > answered'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const answer = new Promise<string>((resolve) =>
    child.stdout.once('data', (bytes: Buffer) => resolve(bytes.toString())),
  );
  standStill(milliseconds, join(folder, 'answered'));
  rmSync(folder, { recursive: true });
  return answer;
}
