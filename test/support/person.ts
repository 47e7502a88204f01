/** A person in a browser: keeps the cookie and the CSRF token of a session. */
import type { Answer, RequestOptions } from './client.js';
import type { TestService } from './service.js';

let nextAddress = 0;

/**
 * Returns a unique address, since failed sign-ins are counted by address. The service has to trust 127.0.0.1 as a
 * proxy.
 */
export function newAddress(): string {
  nextAddress += 1;
  return `10.1.${nextAddress >> 8}.${nextAddress & 255}`;
}

export class Person {
  cookie = '';
  csrfToken = '';

  constructor(
    readonly service: TestService,
    readonly address = newAddress(),
  ) {}

  /** Signs in and keeps the cookie and the token. */
  async signIn(credentials: Record<string, unknown>): Promise<Answer> {
    const answer = await this.send('POST', '/session', { json: credentials });
    if (answer.status === 201) this.csrfToken = (answer.body as { csrf_token: string }).csrf_token;
    return answer;
  }

  get(path: string): Promise<Answer> {
    return this.send('GET', path);
  }

  async send(method: string, path: string, options: RequestOptions = {}): Promise<Answer> {
    const answer = await this.service.clientWith(undefined).send(method, path, {
      ...options,
      headers: {
        'X-Forwarded-For': this.address,
        'Sec-Fetch-Site': 'same-origin',
        ...(this.cookie === '' ? {} : { Cookie: this.cookie }),
        ...(this.csrfToken === '' ? {} : { 'X-CSRF-Token': this.csrfToken }),
        ...options.headers,
      },
    });
    const [cookie] = answer.headers['set-cookie'] ?? [];
    if (cookie !== undefined) this.cookie = cookie.slice(0, cookie.indexOf(';'));
    return answer;
  }
}
