/**
 * Sign-in by OpenID Connect: authorization code flow with PKCE, state and nonce, by `openid-client`.
 *
 * The browser holds the token of its attempt and presents it with the provider's code. So a code obtained by somebody
 * else, or a link to somebody's finished sign-in, is useless there. Tokens depend on a secret of the process: after a
 * restart, people have to begin again. Main thread only.
 */
import type * as OpenIdClient from 'openid-client';
import { OutboundRefusedError, ServiceError, type Clock } from '../platform/index.js';
import { OutboundFailedError, type OutboundClient } from '../platform/outbound/outbound-client.js';
import { OpenIdAttempts } from './openid-attempts.js';
import { refusalOf } from './openid-refusal.js';
import type { OpenIdSettings } from './openid-settings.js';
import { PROVIDER_UNAVAILABLE, SIGN_IN_FAILED } from './problems.js';

const FORM_TYPE = 'application/x-www-form-urlencoded';
/** How long the provider's metadata is cached; it may move. */
const DESCRIBED_MS_MAX = 3_600_000;
/** Characters repeated of what a provider or a library says. */
const WHY_CHARACTERS_MAX = 600;
const PLACES = ['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const;

/** Parameters that the browser brings back. */
export interface OpenIdAnswer {
  readonly flow: string;
  readonly code: string;
  readonly state: string;
  /** Issuer, if the provider adds it (RFC 9207). */
  readonly iss?: string;
}

/** Identity that the provider vouches for. */
export interface Identity {
  readonly email: string;
  readonly issuer: string;
  readonly subject: string;
}

export interface OpenIdOptions {
  readonly settings: OpenIdSettings & { readonly redirectUri: string };
  readonly outbound: () => OutboundClient;
  readonly clock: Clock;
  /** Called with the reason when sign-ins begin to fail. */
  readonly onTrouble?: (why: string) => void;
}

/** Reason why nobody can sign in by the provider. */
export interface OpenIdTrouble {
  /** A sentence. */
  readonly why: string;
  /** ISO 8601. */
  readonly sinceUtc: string;
}

export class OpenId {
  readonly #options: OpenIdOptions;
  readonly #attempts: OpenIdAttempts;
  #provider: Promise<OpenIdClient.Configuration> | undefined;
  #describedMs = 0;
  #trouble: OpenIdTrouble | undefined;
  /**
   * True if the trouble was to read the provider's metadata: reading it ends this trouble. Any other ends with a
   * sign-in.
   */
  #isUndescribed = false;

  constructor(options: OpenIdOptions) {
    this.#options = options;
    this.#attempts = new OpenIdAttempts(options.clock);
  }

  get name(): string {
    return this.#options.settings.name;
  }

  /** True if everybody known to the provider may sign in, invited or not. */
  get letsIn(): boolean {
    return this.#options.settings.sign_up;
  }

  /** Trouble of the last request to the provider. */
  get trouble(): OpenIdTrouble | undefined {
    return this.#trouble;
  }

  /** Begins a sign-in. Returns where the browser goes, and the token it keeps. Rejects with `provider-unavailable`. */
  async begin(): Promise<{ readonly url: string; readonly flow: string }> {
    const library = await import('openid-client');
    const provider = await this.#discovered(library);
    const { flow, attempt } = this.#attempts.begin();
    const { state, nonce, verifier } = attempt;
    const url = library.buildAuthorizationUrl(provider, {
      redirect_uri: this.#options.settings.redirectUri,
      scope: 'openid email',
      state,
      nonce,
      code_challenge: await library.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
    return { url: url.href, flow };
  }

  /**
   * Finishes a sign-in; the attempt is used up in any case. Rejects with `sign-in-failed` or `provider-unavailable`.
   */
  async finish({ flow, code, state, iss }: OpenIdAnswer): Promise<Identity> {
    const attempt = this.#attempts.useUp(flow);
    if (attempt === undefined) {
      throw new ServiceError(
        SIGN_IN_FAILED,
        'This sign-in is already finished, is too old, or was begun in another browser. Begin again.',
      );
    }
    const library = await import('openid-client');
    const provider = await this.#discovered(library);
    const back = new URL(this.#options.settings.redirectUri);
    back.search = new URLSearchParams({ code, state, ...(iss === undefined ? {} : { iss }) }).toString();
    const claims = await this.#claims(() =>
      library.authorizationCodeGrant(provider, back, {
        pkceCodeVerifier: attempt.verifier,
        expectedState: attempt.state,
        expectedNonce: attempt.nonce,
        idTokenExpected: true,
      }),
    );
    if (typeof claims?.['email'] !== 'string' || claims['email_verified'] !== true) {
      throw new ServiceError(SIGN_IN_FAILED, `${this.name} did not confirm an email of yours.`);
    }
    return { email: claims['email'], issuer: claims.iss, subject: claims.sub };
  }

  async #claims(grant: () => Promise<{ claims(): OpenIdClient.IDToken | undefined }>) {
    try {
      const claims = (await grant()).claims();
      this.#trouble = undefined;
      return claims;
    } catch (error) {
      // The provider's metadata may have changed.
      this.#provider = undefined;
      if (outboundOf(error) !== undefined) throw this.#unavailable(error);
      const why = refusalOf(error, this.#options.settings);
      if (why !== undefined) this.#note(why);
      throw new ServiceError(SIGN_IN_FAILED, `The answer of ${this.name} is not a valid sign-in.`, {
        cause: error,
      });
    }
  }

  /** Returns the provider's metadata. Reads it again if the last attempt failed or it lacks endpoints. */
  #discovered(library: typeof OpenIdClient): Promise<OpenIdClient.Configuration> {
    const nowMs = this.#options.clock.nowMs();
    if (this.#provider !== undefined && Math.abs(nowMs - this.#describedMs) < DESCRIBED_MS_MAX) return this.#provider;
    this.#describedMs = nowMs;
    const { issuer, client_id, client_secret } = this.#options.settings;
    const authentication = client_secret === '' ? library.None() : library.ClientSecretPost(client_secret);
    // Signatures of tokens are checked even if they come directly from the provider. An issuer without TLS is on this
    // machine: `providerOf` accepts no other.
    const execute = [
      library.enableNonRepudiationChecks,
      ...(new URL(issuer).protocol === 'http:' ? [library.allowInsecureRequests] : []),
    ];
    const found = library.discovery(new URL(issuer), client_id, undefined, authentication, {
      execute,
      [library.customFetch]: (url, options) => this.#fetch(url, options),
    });
    const provider = found.then(withPlaces).then(
      (described) => {
        if (this.#isUndescribed) this.#trouble = undefined;
        return described;
      },
      (error: unknown) => {
        if (this.#provider === provider) this.#provider = undefined;
        const told = this.#unavailable(error);
        this.#isUndescribed = true;
        throw told;
      },
    );
    this.#provider = provider;
    return provider;
  }

  /** Fetches through the common outgoing client. */
  async #fetch(url: string, { method, headers, body, signal }: OpenIdClient.CustomFetchOptions): Promise<Response> {
    const answer = await this.#options.outbound().request({
      url,
      method: method === 'POST' ? 'POST' : 'GET',
      headers: body instanceof URLSearchParams ? { 'content-type': FORM_TYPE, ...headers } : headers,
      ...(body instanceof URLSearchParams ? { body: body.toString() } : {}),
      ...(signal === undefined ? {} : { signal }),
    });
    const bytes = await answer.bytes();
    return new Response(new Uint8Array(bytes), {
      status: answer.status,
      headers: { 'content-type': String(answer.headers['content-type'] ?? '') },
    });
  }

  /** Returns the error for the person signing in, and records the reason for the operator. */
  #unavailable(cause: unknown): ServiceError {
    const onTheWay = outboundOf(cause)?.message;
    const why = onTheWay ?? refusalOf(cause, this.#options.settings) ?? (cause as Error).message;
    this.#note(why.slice(0, WHY_CHARACTERS_MAX));
    const detail = `${this.name} cannot be reached at the moment. Try again, or sign in with your password.`;
    return new ServiceError(PROVIDER_UNAVAILABLE, detail, { cause });
  }

  #note(why: string): void {
    if (this.#trouble === undefined) this.#options.onTrouble?.(why);
    this.#isUndescribed = false;
    this.#trouble = { why, sinceUtc: this.#trouble?.sinceUtc ?? this.#options.clock.nowIso() };
  }
}

/** Throws if the metadata lacks endpoints. The library would notice only later, and would keep the metadata. */
function withPlaces(provider: OpenIdClient.Configuration): OpenIdClient.Configuration {
  const described = provider.serverMetadata();
  for (const place of PLACES) {
    const url: unknown = described[place];
    const isWeb = typeof url === 'string' && URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
    if (!isWeb) throw new Error(`The provider describes itself without a usable ${place}.`);
  }
  return provider;
}

/** Returns the connection error, if nothing was answered; the library wraps it. */
function outboundOf(error: unknown): Error | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (at instanceof OutboundFailedError || at instanceof OutboundRefusedError) return at;
  }
  return undefined;
}
