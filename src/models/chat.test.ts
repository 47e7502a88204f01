/** Chat models that are called through OpenAI's API: what a server may answer, and what follows from it. */
import { describe, expect, it, beforeEach, afterEach } from 'vitest';
import { modelClient } from '../../test/support/model-client.js';
import { answering, chatting, startScriptedModel } from '../../test/support/scripted-model.js';
import type { ScriptedServer } from '../../test/support/scripted-server.js';
import { SimulatedTimers } from '../../test/support/simulated-timers.js';
import type { OutboundClient } from '../platform/outbound/outbound-client.js';
import { Secret } from '../platform/index.js';
import { CHAT_ANSWER_BYTES_MAX, ChatModel, OpenAiChat } from './chat.js';
import { GuardedCalls } from './guarded-calls.js';
import { JsonService } from './json-service.js';
import { ModelError } from './model-error.js';
import { endpointOf } from './remote-models.js';

const SECRET = 'sk-very-secret';
const SLOW_MS = 300;
/** The calls without an answer after which a model is paused. */
const CALLS = 5;
let server: ScriptedServer;
let client: OutboundClient;
let timers: SimulatedTimers;
let chat: ChatModel;

beforeEach(async () => {
  server = await startScriptedModel();
  timers = new SimulatedTimers();
  client = modelClient();
  chat = opened();
});
afterEach(async () => {
  await client.close();
  await server.close();
});

const rarely = (requestsPerMinute: number | null) =>
  new GuardedCalls({ requestsPerMinute, tokensPerMinute: null }, timers);

function opened({ msMax = 30_000, calls = rarely(null) } = {}): ChatModel {
  const url = endpointOf(server.url('/v1'), '/v1/chat/completions');
  const bytes = CHAT_ANSWER_BYTES_MAX;
  const limits = { totalMs: msMax, wireBytesMax: bytes, bytesMax: bytes };
  const service = new JsonService({ client, url, secret: new Secret(SECRET), limits });
  return new ChatModel('writer', new OpenAiChat(service, { served_name: 'served' }), calls, 2 * msMax);
}
const ask = (model = chat, signal?: AbortSignal) =>
  model.write({ messages: [{ role: 'user', content: 'hello' }], tokensMax: 100, signal });

describe('ChatModel', () => {
  it('sends its name, messages and secret, and returns the text of the answer', async () => {
    server.script = chatting(() => 'gannet');
    expect(await ask()).toBe('gannet');
    const { path, headers, body } = server.asked.at(-1) ?? {};
    expect(path).toBe('/v1/chat/completions');
    expect(headers?.authorization).toBe(`Bearer ${SECRET}`);
    expect(JSON.parse(body ?? '')).toEqual({
      model: 'served',
      messages: [{ role: 'user', content: 'hello' }],
      max_tokens: 100,
      temperature: 0,
    });
  });

  it.each([
    ['a page of HTML', answering(200, '<html>Welcome</html>', { 'content-type': 'text/html' }), 'later', 'text/html'],
    ['nothing', answering(200, ''), 'later', 'not JSON'],
    ['no choice', answering(200, '{"choices": []}'), 'later', 'no text'],
    ['a choice without a text', answering(200, '{"choices": [{"message": {"content": null}}]}'), 'later', 'no text'],
    ['parts instead of a text', answering(200, '{"choices": [{"message": {"content": [{}]}}]}'), 'later', 'no text'],
    ['an error of its own', answering(500, '{"error": {"message": "out of memory"}}'), 'later', 'out of memory'],
    ['no entry', answering(401, `{"error": "wrong key ${SECRET}"}`), 'later', 'wrong key [secret]'],
    ['a refusal', answering(400, '{"error": {"message": "context too long"}}'), 'never', 'context too long'],
    ['a redirect', answering(308, '', { location: 'https://example.com/' }), 'later', 'It says: https://example.com/'],
    ['a redirect of its own', answering(307, '', { location: '/v2/' }), 'later', 'change the URL of the model'],
    ['too many requests', answering(429, '{}'), 'later', 'limit it by requests_per_minute'],
    ['far too much', chatting(() => 'x'.repeat(CHAT_ANSWER_BYTES_MAX + 1)), 'later', `${CHAT_ANSWER_BYTES_MAX}`],
  ])('reports an answer of %s as an error with the reason, without its secret', async (_what, script, retry, why) => {
    server.script = script;
    const error = await ask().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ModelError);
    expect(error).toMatchObject({ retry });
    expect((error as ModelError).detail).toContain(why);
    expect((error as ModelError).detail).not.toContain(SECRET);
  });

  it('uses max_completion_tokens for a reasoning model, from the second call on at once', async () => {
    server.script = (asked, response) => {
      const { max_completion_tokens: length } = JSON.parse(asked.body) as { max_completion_tokens?: number };
      if (length === undefined) answering(400, '{"error": {"message": "unsupported: max_tokens"}}')(asked, response);
      else chatting(() => String(length))(asked, response);
    };
    expect([await ask(), await ask()]).toEqual(['100', '100']);
    expect(server.asked).toHaveLength(3);
    expect(JSON.parse(server.asked.at(-1)?.body ?? '')).not.toHaveProperty('temperature');
  });

  it('ends a call after its time limit, and pauses the model after several of them', async () => {
    server.script = () => undefined;
    const slow = opened({ msMax: SLOW_MS });
    for (let call = 0; call < CALLS; call += 1) await expect(ask(slow)).rejects.toBeInstanceOf(ModelError);
    await expect(ask(slow)).rejects.toThrow('left alone');
    // A call that was ended may reach the server later than that, or not at all.
    expect(server.asked.length).toBeLessThanOrEqual(CALLS);
  });

  it('pauses the model for as long as its Retry-After says', async () => {
    server.script = answering(429, '{}', { 'retry-after': '20' });
    await expect(ask()).rejects.toMatchObject({ retry: 'later', retryAfterMs: 20_000 });
    server.script = chatting(() => 'here');
    await expect(ask()).rejects.toThrow('left alone');
    await timers.pass(20_000, () => Promise.resolve());
    expect(await ask()).toBe('here');
  });

  it('ends a call whose signal is aborted, which does not count as a failure', async () => {
    const left = new AbortController();
    server.script = () => left.abort(new Error('left'));
    await expect(ask(chat, left.signal)).rejects.toThrow('left');
    server.script = chatting(() => 'here');
    expect(await ask()).toBe('here');
  });

  it('does not wait beyond its time limit for a spent budget', async () => {
    server.script = chatting(() => 'here');
    const calls = rarely(1);
    // The call that spends the budget has time for an answer.
    expect(await ask(opened({ calls }))).toBe('here');
    await expect(ask(opened({ calls, msMax: SLOW_MS }))).rejects.toThrow('did not answer within');
    expect(server.asked).toHaveLength(1);
  });
});

it('endpointOf returns the URL of the endpoint, whatever part of it was given', () => {
  for (const url of ['https://h', 'https://h/', 'https://h/v1', 'https://h/v1/chat/completions'])
    expect(endpointOf(url, '/v1/chat/completions')).toBe('https://h/v1/chat/completions');
});
