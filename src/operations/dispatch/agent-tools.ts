/** Selects the operations that agents call as tools, and names them. */
import { EVENT_STREAM_TYPE } from './event-stream.js';
import type { Operation } from './operation.js';
import { membersOf } from './parameter-places.js';
import { isStreamBody } from './validation.js';

/** Path at which agents call tools. They may send the key as a bearer token there, since many can do nothing else. */
export const AGENTS_PATH = '/mcp';

/** Returns the tool name, such as `record_list_click`: the operation's own, or else its name in snake case. */
export function agentToolName({ tool, name }: Pick<Operation, 'tool' | 'name'>): string {
  return tool ?? name.replaceAll(/[.-]/g, '_');
}

/**
 * True for operations open to keys, except public ones, endless answers, and those that another operation of `all`
 * covers.
 */
export function isAgentTool(operation: Operation, all: readonly Operation[]): boolean {
  const { callers, permission, path, responses } = operation;
  if (!callers.includes('key') || permission === 'public' || path === AGENTS_PATH) return false;
  if (Object.values(responses).some(({ contentType }) => contentType === EVENT_STREAM_TYPE)) return false;
  return !all.some((other) => isSameByPost(operation, other));
}

/** True if the operation takes by GET what `other` takes in the body of a POST. */
function isSameByPost({ method, path, permission, query }: Operation, other: Operation): boolean {
  if (method !== 'GET' || other.method !== 'POST' || other.path !== path || other.permission !== permission)
    return false;
  const asked = membersOf(query);
  const members = other.body === undefined || isStreamBody(other.body) ? [] : membersOf(other.body);
  return asked.length > 0 && asked.every((name) => members.includes(name));
}
