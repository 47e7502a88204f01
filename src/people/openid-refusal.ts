/**
 * Explains to the operator why sign-ins by OpenID Connect fail: settings that differ from the provider's, a wrong
 * clock, an unexpected answer. Errors that anybody can cause with a made-up code or state are not explained.
 */
import type { OpenIdSettings } from './openid-settings.js';

/** Characters repeated of what a provider says. */
const SAID_CHARACTERS_MAX = 200;
/** Errors of a code that is unknown, redeemed or expired: any visitor can cause them. */
const OF_CODES: ReadonlySet<string> = new Set(['invalid_grant']);
const OF_SECRETS: ReadonlySet<string> = new Set(['invalid_client', 'unauthorized_client']);
/** Statuses that are not about the code. */
const OF_PLACES: ReadonlySet<number> = new Set([401, 403, 404, 405]);
const SERVER_FAULTS = 500;
const CLOCK = 'OAUTH_JWT_TIMESTAMP_CHECK_FAILED';
const CLAIM = 'OAUTH_JWT_CLAIM_COMPARISON_FAILED';
const DESCRIBED_OTHERWISE = 'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED';
const NO_KEY = 'OAUTH_KEY_SELECTION_FAILED';
const NO_JSON: ReadonlySet<string> = new Set(['OAUTH_RESPONSE_IS_NOT_JSON', 'OAUTH_PARSE_ERROR']);

type Settings = Pick<OpenIdSettings, 'issuer' | 'client_id' | 'client_secret'> & { readonly redirectUri: string };

/** Members of an error thrown by the library; each may be at any level of its causes. */
interface Thrown {
  readonly code?: string;
  readonly error?: string;
  readonly error_description?: string;
  readonly message?: string;
  readonly claim?: string;
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly body?: Readonly<Record<string, unknown>>;
  readonly status?: number;
  readonly cause?: unknown;
}

/** Returns one or more sentences. Undefined if nothing needs to be wrong with settings or provider. */
export function refusalOf(thrown: unknown, settings: Settings): string | undefined {
  const levels = levelsOf(thrown);
  const first = <Member extends keyof Thrown>(member: Member) =>
    levels.find((level) => level[member] !== undefined)?.[member];
  const code = first('code') ?? '';
  const said = first('error');
  if (said !== undefined) return refused(said, first('error_description'), settings);
  const { issuer, client_id } = settings;
  if (code === CLOCK)
    return 'What the provider signed is not valid by the clock of this machine, which is wrong, or its own is: have the time set over the network.';
  if (code === DESCRIBED_OTHERWISE)
    return `The provider calls itself ${quoted(first('body')?.['issuer'], settings)}, and openid.issuer is ${issuer}: they have to be the same, to the last slash.`;
  if (code === NO_KEY || levels.some(({ message = '' }) => /signature/i.test(message)))
    return 'What the provider signed is not signed by a key that it publishes.';
  if (code === CLAIM) return otherClaim(first('claim'), first('claims'), { issuer, client_id }, settings);
  const status = first('status');
  if (NO_JSON.has(code))
    return 'The provider answered something that is not JSON, such as a page: openid.issuer may lead to another place.';
  const isOfPlace = status !== undefined && (OF_PLACES.has(status) || status >= SERVER_FAULTS);
  return isOfPlace ? `The provider answered ${status} where codes are redeemed.` : undefined;
}

function refused(said: string, description: string | undefined, settings: Settings): string | undefined {
  if (OF_CODES.has(said)) return undefined;
  const because = `${quoted(said, settings)}${description === undefined ? '' : `: ${quoted(description, settings)}`}`;
  if (OF_SECRETS.has(said))
    return `The provider refuses openid.client_id or openid.client_secret (${because}): the secret may have expired, or be another client's.`;
  if (/redirect_uri/.test(`${said} ${description ?? ''}`))
    return `The provider does not know the redirect URI ${settings.redirectUri} (${because}): register it there, or set console.public_url.`;
  return `The provider refuses the sign-in (${because}).`;
}

function otherClaim(
  claim: string | undefined,
  claims: Thrown['claims'],
  { issuer, client_id }: Pick<Settings, 'issuer' | 'client_id'>,
  settings: Settings,
): string | undefined {
  const its = quoted(claims?.[claim ?? ''], settings);
  if (claim === 'iss') return `The provider signs as ${its}, and openid.issuer is ${issuer}.`;
  if (claim === 'aud' || claim === 'azp')
    return `The provider signs for the client ${its}, and openid.client_id is ${client_id}.`;
  // A wrong nonce, or a claim that belongs to a code, may come from a mixed-up attempt.
  return undefined;
}

function levelsOf(thrown: unknown): Thrown[] {
  const levels: Thrown[] = [];
  for (let at = thrown; typeof at === 'object' && at !== null && !levels.includes(at); at = (at as Thrown).cause)
    levels.push(at);
  return levels;
}

/** Returns what a provider says, of any type, in one line and without the secret, which it may repeat. */
function quoted(said: unknown, { client_secret: secret }: Settings): string {
  const text = (typeof said === 'string' ? said : (JSON.stringify(said) ?? '')).replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ');
  const open = secret === '' ? text : text.replaceAll(secret, '[secret]');
  return open.slice(0, SAID_CHARACTERS_MAX);
}
