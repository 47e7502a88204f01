/** Selects tools by name: the descriptions of all would take tens of thousands of an agent's tokens in advance. */
import { didYouMeanName, ERROR_VALUE_CHARACTERS_MAX, ServiceError, toldText } from '../platform/index.js';
import type { AgentTool } from './agent-tool.js';

export interface ToolSelection {
  /** Tool names separated by commas, where `*` matches any characters: `search_*,list_read`. Undefined for all. */
  readonly names?: string | undefined;
  readonly readOnly?: boolean | undefined;
  /** Name of the parameter or option that has the names, for errors. */
  readonly givenBy: string;
}

/** Returns the selected tools in the order of `tools`. Throws `invalid-parameter` for a name that matches none. */
export function selectedTools(
  tools: readonly AgentTool[],
  { names, readOnly, givenBy }: ToolSelection,
): readonly AgentTool[] {
  const open = tools.filter(({ annotations }) => readOnly !== true || annotations.readOnlyHint);
  if (names === undefined) return open;
  const patterns = names
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  const chosen = new Set<AgentTool>();
  for (const pattern of patterns) {
    const has = matcherOf(pattern);
    const matching = tools.filter(({ name }) => has(name));
    if (matching.length === 0) throw unknownTool(pattern, tools, givenBy);
    for (const tool of matching) chosen.add(tool);
  }
  if (chosen.size === 0) throw refused(givenBy, "It is empty. It takes names of tools, such as 'search_*,list_read'.");
  return open.filter((tool) => chosen.has(tool));
}

/** Matches in time linear in the pattern and the name: the pattern is a caller's, and a regular expression of its stars would backtrack. */
function matcherOf(pattern: string): (name: string) => boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return (name) => name === pattern;
  return (name) => {
    if (!name.startsWith(first)) return false;
    let from = first.length;
    for (const part of rest) {
      const at = name.indexOf(part, from);
      if (at === -1) return false;
      from = at + part.length;
    }
    return name.length - last.length >= from && name.endsWith(last);
  };
}

function unknownTool(pattern: string, tools: readonly AgentTool[], givenBy: string): ServiceError {
  const names = tools.map(({ name }) => name);
  const told = toldText(pattern, ERROR_VALUE_CHARACTERS_MAX);
  const areas = [...new Set(names.map((name) => `${name.replace(/_.*$/, '')}_*`))];
  return refused(
    givenBy,
    `No tool is called '${told}'.${didYouMeanName(pattern, names)} Groups of tools: ${areas.join(', ')}.`,
  );
}

function refused(givenBy: string, detail: string): ServiceError {
  return new ServiceError('invalid-parameter', `${givenBy}: ${detail}`, { errors: [{ parameter: givenBy, detail }] });
}
