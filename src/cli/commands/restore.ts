/** `gannet restore`: restores the data directory from a backup. */
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
      `--account needs a backup in a media store (media:STORE), but '${from}' is a folder of this machine. Leave --account out.`,
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
  output.write(`Restored ${dataDir}: ${formatCounted(lists, 'list')}, ${formatBytes(bytes)}, as of ${madeUtc}\n`);
  if (before !== null) output.write(`The previous data is in ${before}.\n`);
  if (earlier !== null) {
    output.write(`An earlier, interrupted restore was completed first. The data from before it is in ${earlier}.\n`);
  }
  return EXIT.done;
}
