/** What agents call an operation by. */
import type { Operation } from './operation.js';

/** `record_list_click`: the operation's own, else its name in snake case. */
export function agentToolName({ tool, name }: Pick<Operation, 'tool' | 'name'>): string {
  return tool ?? name.replaceAll(/[.-]/g, '_');
}
