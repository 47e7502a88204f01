/** Tests pages of other origins by the preflight requests that browsers send first. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestService, type TestService } from '../support/service.js';

const ORIGIN = 'https://agent.example';
let service: TestService;
beforeAll(async () => {
  service = await startTestService({ env: { GANNET_SERVER_CORS_ORIGINS: ORIGIN } });
});
afterAll(() => service.close());

async function preflight(path: string, method: string): Promise<{ headers: string[]; methods: string[] }> {
  const answer = await fetch(`${service.address}${path}`, {
    method: 'OPTIONS',
    headers: { Origin: ORIGIN, 'Access-Control-Request-Method': method },
  });
  expect(answer.status).toBe(204);
  expect(answer.headers.get('access-control-allow-origin')).toBe(ORIGIN);
  const listOf = (name: string) => (answer.headers.get(name) ?? '').toLowerCase().split(', ');
  return { headers: listOf('access-control-allow-headers'), methods: listOf('access-control-allow-methods') };
}

describe('a page of an allowed origin', () => {
  it('may send the headers of an agent', async () => {
    const { headers, methods } = await preflight('/mcp', 'POST');
    expect(methods).toContain('post');
    const sent = ['authorization', 'content-type', 'mcp-method', 'mcp-name', 'mcp-protocol-version', 'x-api-key'];
    expect(headers).toEqual(expect.arrayContaining(sent));
  });

  it('may request part of a file, and upload one conditionally', async () => {
    const { headers } = await preflight('/media/default/default/a.txt', 'PUT');
    expect(headers).toEqual(expect.arrayContaining(['if-match', 'if-none-match', 'if-range', 'range']));
    const put = await service.client.send('PUT', '/media/default/default/a.txt', {
      bytes: 'text',
      headers: { Origin: ORIGIN },
    });
    expect(put.status).toBe(201);
    expect(put.headers['access-control-expose-headers']).toContain('ETag');
  });
});
