/** `gannet progress`: lists background jobs, one per line. */
import type { CommandText } from '../operations/index.js';
import { membersOf } from './answers.js';
import { formatDuration, printable } from './output.js';

interface ToldJob {
  readonly kind: string;
  readonly name: string;
  readonly state: string;
  readonly done: number;
  readonly total: number | null;
  readonly rate_per_second: number;
  readonly seconds_left: number | null;
  readonly message: string | null;
}

export function progressView(answer: unknown, { table, count }: CommandText): string {
  const jobs = membersOf<ToldJob>(answer, 'jobs');
  if (jobs.length === 0) return 'No jobs are running.\n';
  const rows = jobs.map(({ kind, name, state, done, total, rate_per_second, seconds_left, message }) => [
    kind,
    printable(name),
    state,
    total === null ? count(done) : `${count(done)} of ${count(total)}`,
    `${count(rate_per_second)}/s`,
    seconds_left === null ? '' : formatDuration(seconds_left),
    printable(message ?? ''),
  ]);
  const more = (answer as { readonly job_count: number }).job_count - jobs.length;
  return (
    table([['JOB', 'NAME', 'STATE', 'DONE', 'RATE', 'TIME LEFT', 'MESSAGE'], ...rows]) +
    (more > 0 ? `and ${count(more)} more\n` : '')
  );
}
