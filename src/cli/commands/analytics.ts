/** `gannet analytics`: the report of a list or group, with small charts. */
import { analyticsView } from '../analytics-view.js';
import type { AnalyticsReport } from '../answers.js';
import { writeJson, type CommandContext } from '../command-context.js';
import { EXIT, type ExitStatus } from '../exit-codes.js';

export interface AnalyticsCommandOptions {
  readonly account?: string;
  /** True if the name is that of a group. */
  readonly group?: boolean;
  readonly from?: string;
  readonly to?: string;
  readonly json?: boolean;
}

export async function analytics(
  context: CommandContext,
  name: string,
  options: AnalyticsCommandOptions,
): Promise<ExitStatus> {
  const account = options.account ?? context.config.account.name;
  const query = {
    ...(options.from === undefined ? {} : { from: options.from }),
    ...(options.to === undefined ? {} : { to: options.to }),
  };
  const report = await context.withData((client) =>
    options.group === true
      ? client.call('analytics.group', { params: { account, group: name }, query })
      : client.call('analytics.list', { params: { account, list: name }, query }),
  );
  if (options.json === true) writeJson(context.output, report);
  else context.output.write(analyticsView(context.output, report as AnalyticsReport));
  return EXIT.done;
}
