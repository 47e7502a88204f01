/** `gannet reindex`: rebuilds the index of a list from its records. */
import { writeJson, type CommandContext } from '../command-context.js';
import { EXIT, type ExitStatus } from '../exit-codes.js';
import { formatRecords } from '../output.js';

export interface ReindexOptions {
  readonly list: string;
  readonly account?: string;
  readonly json?: boolean;
}

export async function reindex(context: CommandContext, options: ReindexOptions): Promise<ExitStatus> {
  const { list, account = context.config.account.name } = options;
  const answer = await context.withData((client) => client.call('list.reindex', { params: { account, list } }));
  if (options.json === true) writeJson(context.output, answer);
  else {
    const { records, took_ms } = answer as { readonly records: number; readonly took_ms: number };
    const seconds = (took_ms / 1000).toFixed(1);
    context.output.write(
      `Rebuilt the index of ${list} from ${formatRecords(records)} (all versions) in ${seconds} s.\n`,
    );
  }
  return EXIT.done;
}
