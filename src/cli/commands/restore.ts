/** `gannet restore`: the data directory as a backup has it. */
import type { CommandContext } from '../command-context.js';
import { CommandError, EXIT, type ExitStatus } from '../exit-codes.js';
import { formatBytes, formatCounted } from '../output.js';

export interface RestoreOptions {
  readonly replace?: boolean;
  readonly json?: boolean;
  readonly account?: string;
}

export async function restore(
  { config, load, output }: CommandContext,
  from: string,
  options: RestoreOptions,
): Promise<ExitStatus> {
  if (options.account !== undefined && !from.startsWith('media:'))
    throw new CommandError(
      `--account says whose media store media:STORE is, and '${from}' is a folder of this machine: leave it out.`,
      EXIT.usage,
    );
  const { restoreData } = await load();
  const silent = { ...config, log: { ...config.log, level: 'silent' as const } };
  const restored = await restoreData(silent, {
    from,
    account: options.account ?? config.account.name,
    replace: options.replace === true,
  });
  if (options.json === true) {
    output.write(`${JSON.stringify(restored)}\n`);
    return EXIT.done;
  }
  const { data_dir: dataDir, made_utc: madeUtc, lists, bytes, before, before_earlier: earlier } = restored;
  output.write(`${dataDir}: ${formatCounted(lists, 'list')}, ${formatBytes(bytes)}, as of ${madeUtc}\n`);
  if (before !== null) output.write(`What was there is in ${before} now.\n`);
  if (earlier !== null) {
    output.write(
      `What was there before an earlier restore, which was cut short and came to its end first, is in ${earlier}.\n`,
    );
  }
  return EXIT.done;
}
