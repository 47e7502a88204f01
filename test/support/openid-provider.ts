/** An OpenID Connect provider on loopback that signs what a test defines. */
import { createHash, createSign, generateKeyPairSync } from 'node:crypto';
import { ScriptedServer, type Asked } from './scripted-server.js';

const KEY_ID = 'one';
const HOUR_SECONDS = 3600;

export type Claims = Readonly<Record<string, unknown>>;

export class OpenIdProvider {
  /** Claims of the next ID token in addition to the mandatory ones. Null removes a claim. */
  claims: Claims = { email: 'ann@example.com', email_verified: true };
  /** Key that signs the token; `other` is not the provider's. */
  signedBy: 'own' | 'other' = 'own';
  /** Additional metadata of the provider. */
  described: Readonly<Record<string, unknown>> = {};
  /** Answer to the next codes, whatever they are. */
  redeemed: { readonly status: number; readonly body: unknown } | undefined;
  readonly #keys = generateKeyPairSync('rsa', { modulusLength: 2048 });
  readonly #others = generateKeyPairSync('rsa', { modulusLength: 2048 });
  /** Keyed by code. */
  readonly #authorized = new Map<string, { readonly nonce: string; readonly challenge: string }>();
  private constructor(readonly server: ScriptedServer) {
    server.script = (asked, response) => {
      if (asked.path.startsWith('/authorize?')) {
        response.writeHead(302, { Location: this.#back(this.server.url(asked.path)) }).end();
        return;
      }
      const answer = this.#answer(asked);
      response.writeHead(answer === undefined ? 404 : (answer.status ?? 200), { 'Content-Type': 'application/json' });
      response.end(JSON.stringify(answer?.body ?? {}));
    };
  }

  static async start(): Promise<OpenIdProvider> {
    return new OpenIdProvider(await ScriptedServer.start());
  }

  get issuer(): string {
    return this.server.url('').replace(/\/$/, '');
  }

  /** Plays a person who consents. Returns what the browser brings back. */
  authorize(url: string): { readonly code: string; readonly state: string } {
    const { searchParams } = new URL(url);
    const code = `code-${this.#authorized.size}`;
    const asked = (name: string) => searchParams.get(name) ?? '';
    this.#authorized.set(code, { nonce: asked('nonce'), challenge: asked('code_challenge') });
    return { code, state: asked('state') };
  }

  close(): Promise<void> {
    return this.server.close();
  }

  /** Error returned instead of consent, for a person in a browser. */
  denial: string | undefined;

  #back(asked: string): string {
    const back = new URL(new URL(asked).searchParams.get('redirect_uri') ?? '');
    const answer = this.denial === undefined ? this.authorize(asked) : { error: this.denial };
    back.search = new URLSearchParams(answer).toString();
    return back.href;
  }

  #answer({ path, body }: Asked): { readonly status?: number; readonly body: unknown } | undefined {
    const { issuer } = this;
    if (path === '/.well-known/openid-configuration') {
      const places = { authorization_endpoint: '/authorize', token_endpoint: '/token', jwks_uri: '/keys' };
      const urls = Object.entries(places).map(([name, place]) => [name, issuer + place]);
      return {
        body: {
          issuer,
          ...Object.fromEntries(urls),
          response_types_supported: ['code'],
          subject_types_supported: ['public'],
          id_token_signing_alg_values_supported: ['RS256'],
          ...this.described,
        },
      };
    }
    if (path === '/keys') {
      const key = this.#keys.publicKey.export({ format: 'jwk' });
      return { body: { keys: [{ ...key, kid: KEY_ID, alg: 'RS256', use: 'sig' }] } };
    }
    return path === '/token' ? this.#token(new URLSearchParams(body)) : undefined;
  }

  #token(asked: URLSearchParams): { readonly status?: number; readonly body: unknown } {
    if (this.redeemed !== undefined) return this.redeemed;
    const known = this.#authorized.get(asked.get('code') ?? '');
    const challenge = createHash('sha256')
      .update(asked.get('code_verifier') ?? '')
      .digest('base64url');
    if (known === undefined || known.challenge !== challenge) return { status: 400, body: { error: 'invalid_grant' } };
    this.#authorized.delete(asked.get('code') ?? '');
    const id_token = this.#signed(known.nonce, asked.get('client_id') ?? '');
    return { body: { access_token: 'access', token_type: 'bearer', id_token } };
  }

  #signed(nonce: string, audience: string): string {
    const now = Math.floor(Date.now() / 1000);
    const usual = { iss: this.issuer, sub: 'subject-1', aud: audience, iat: now, exp: now + HOUR_SECONDS, nonce };
    const claims = Object.fromEntries(
      Object.entries({ ...usual, ...this.claims }).filter(([, value]) => value !== null),
    );
    const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const signed = `${part({ alg: 'RS256', kid: KEY_ID })}.${part(claims)}`;
    const { privateKey } = this.signedBy === 'own' ? this.#keys : this.#others;
    return `${signed}.${createSign('RSA-SHA256').update(signed).sign(privateKey, 'base64url')}`;
  }
}
