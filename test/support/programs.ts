/** Programs of the machine that tests need. */
import { execFileSync } from 'node:child_process';

/** Returns why tests of these programs cannot run here; undefined if all are there. */
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
