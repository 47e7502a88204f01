/** Formats results as Markdown tables, with the machine, the versions and the settings of the measurement. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import os from 'node:os';
import { join } from 'node:path';
import { root } from './service.mjs';

const integers = new Intl.NumberFormat('en-GB');

export const formatCount = (value) => integers.format(Math.round(value));

export function markdownTable(heading, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |\n`;
  return line(heading) + line(heading.map(() => '---')) + rows.map(line).join('');
}

/** Returns a row of results: name, value, bar, and whether it is reached. */
export function barRow(what, measured, bar, reached) {
  return [what, measured, bar, reached ? 'reached' : '**missed**'];
}

export function machineTable(settings = {}) {
  const git = (args) => {
    try {
      return execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
    } catch {
      return 'unknown';
    }
  };
  const version = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version;
  const changed = git(['status', '--porcelain']) === '' ? '' : ' with changes';
  return markdownTable(
    ['Measured with', ''],
    [
      ['Gannet', `${version}, commit ${git(['rev-parse', '--short', 'HEAD'])}${changed}`],
      ['Node.js', process.versions.node],
      ['Processor', `${os.cpus().length} × ${os.cpus()[0]?.model.trim() ?? 'unknown'}`],
      ['Memory', `${Math.round(os.totalmem() / 2 ** 20)} MiB`],
      ['System', `${os.type()} ${os.release()}`],
      ['Load generator', 'on the same machine'],
      ...Object.entries(settings),
    ],
  );
}

export function quantile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}
