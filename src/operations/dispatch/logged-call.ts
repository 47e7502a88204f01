/**
 * What a line of the log says of a call: who called, and what of the account it was about, but no names of records and files, which may say anything of
 * anybody.
 */
import type { Caller } from '../../access/index.js';
import { NAME_LENGTH_MAX } from '../../platform/index.js';
import type { PathParams } from './dispatch.js';

/** Of a path: by these somebody finds out later who deleted a list, and which list is slow. */
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

/** Of who was admitted: what others give is not known to be a name. */
export function loggedNames(params: PathParams): Readonly<Record<string, string>> {
  const names: Record<string, string> = {};
  for (const param of TOLD_PARAMS) {
    const name = told(params[param]);
    if (name !== undefined) names[param] = name;
  }
  return names;
}

/** What is longer is no name, and was refused. */
function told(name: string | undefined): string | undefined {
  return name === undefined || name.length > NAME_LENGTH_MAX ? undefined : name;
}
