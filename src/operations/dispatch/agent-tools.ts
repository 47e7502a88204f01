/** What agents call an operation by. */
import type { Operation } from './operation.js';

/** `record_list_click`: the operation's own, else its name in snake case. */
export function agentToolName({ tool, name }: Pick<Operation, 'tool' | 'name'>): string {
  return tool ?? name.replaceAll(/[.-]/g, '_');
}

/** Where agents call tools. They may send the key as a bearer token there, for that is all that many of them can. */
export const AGENTS_PATH = '/mcp';
