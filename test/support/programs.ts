/** Programs of the machine that a test calls. */
import { execFileSync } from 'node:child_process';

/** Why a test of these cannot be run here; undefined where all are there. */
export function whyWithout(...programs: readonly string[]): string | undefined {
  for (const program of programs) {
    try {
      execFileSync(program, ['--version'], { stdio: 'ignore' });
    } catch {
      return `there is no ${program} here`;
    }
  }
  return undefined;
}
