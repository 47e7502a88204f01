/**
 * What a log line says about a call: its caller, and the names of what it was about, except those of records and files,
 * which may contain personal data.
 */
import type { Caller } from '../../access/index.js';
import { NAME_LENGTH_MAX } from '../../platform/index.js';
import type { PathParams } from './dispatch.js';

/** Path parameters that are logged: they tell later who deleted a list, and which list is slow. */
const TOLD_PARAMS = ['list', 'group', 'feed', 'model', 'store', 'id'] as const;

export function loggedCaller(caller: Caller, params: PathParams) {
  const { kind, key, session } = caller;
  return {
    key: key?.name ?? (kind === 'cli' ? '(command line)' : undefined),
    keyId: key?.id,
    person: session?.personId,
    account: key?.account ?? told(params['account']),
  };
}

/** Only for admitted callers: other parameters need not be names. */
export function loggedNames(params: PathParams): Readonly<Record<string, string>> {
  const names: Record<string, string> = {};
  for (const param of TOLD_PARAMS) {
    const name = told(params[param]);
    if (name !== undefined) names[param] = name;
  }
  return names;
}

/** Returns undefined for text that is too long to be a name, and was refused. */
function told(name: string | undefined): string | undefined {
  return name === undefined || name.length > NAME_LENGTH_MAX ? undefined : name;
}
