/** Transcription models that are called through OpenAI's API: what a server may answer, and what follows from it. */
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { modelClient } from '../../test/support/model-client.js';
import { wavOf } from '../../test/support/recordings.js';
import { answering, startScriptedModel } from '../../test/support/scripted-model.js';
import type { ScriptedServer } from '../../test/support/scripted-server.js';
import { SimulatedTimers } from '../../test/support/simulated-timers.js';
import type { OutboundClient } from '../platform/outbound/outbound-client.js';
import { Secret } from '../platform/index.js';
import { GuardedCalls } from './guarded-calls.js';
import { JsonService } from './json-service.js';
import { ModelError } from './model-error.js';
import { endpointOf } from './remote-models.js';
import { GuardedTranscriber, OpenAiTranscription, TRANSCRIPT_BYTES_MAX } from './transcription.js';

const SECRET = 'sk-very-secret';
const SLOW_MS = 300;
/** The calls without an answer after which a model is paused. */
const CALLS = 5;
const SOUND = { bytes: wavOf({ title: 'A gannet' }), fileName: 'piece.wav', mimeType: 'audio/wav' };
const JSON_TYPE = { 'content-type': 'application/json' };
let server: ScriptedServer;
let client: OutboundClient;
let timers: SimulatedTimers;

beforeEach(async () => {
  server = await startScriptedModel();
  timers = new SimulatedTimers();
  client = modelClient();
});
afterEach(async () => {
  await client.close();
  await server.close();
});

function opened({ msMax = 30_000, requestsPerMinute = null as number | null } = {}): GuardedTranscriber {
  const url = endpointOf(server.url('/v1'), '/v1/audio/transcriptions');
  const limits = { totalMs: msMax, wireBytesMax: TRANSCRIPT_BYTES_MAX, bytesMax: TRANSCRIPT_BYTES_MAX };
  const service = new JsonService({ client, url, secret: new Secret(SECRET), limits });
  const calls = new GuardedCalls({ requestsPerMinute, tokensPerMinute: null }, timers);
  return new GuardedTranscriber('1', new OpenAiTranscription(service, { served_name: 'whisper' }), calls);
}

const says = (answer: unknown) => answering(200, JSON.stringify(answer), JSON_TYPE);

describe('GuardedTranscriber', () => {
  it('sends the sound as a file of a form, with its name and its secret', async () => {
    server.script = says({ text: 'A gannet dives.', segments: [{ start: 1.5, end: 3, text: ' A gannet dives.' }] });
    expect(await opened().transcribe(SOUND)).toEqual([{ seconds: 1.5, text: ' A gannet dives.' }]);
    const { path, headers, body = '' } = server.asked.at(-1) ?? {};
    expect(path).toBe('/v1/audio/transcriptions');
    expect(headers?.authorization).toBe(`Bearer ${SECRET}`);
    const [, boundary = ''] = /^multipart\/form-data; boundary=(.+)$/.exec(headers?.['content-type'] ?? '') ?? [];
    const parts = body.split(`--${boundary}`);
    expect(parts).toHaveLength(5);
    expect(parts[1]).toBe('\r\ncontent-disposition: form-data; name="model"\r\n\r\nwhisper\r\n');
    expect(parts[2]).toBe('\r\ncontent-disposition: form-data; name="response_format"\r\n\r\nverbose_json\r\n');
    expect(parts[3]).toContain('name="file"; filename="piece.wav"\r\ncontent-type: audio/wav\r\n\r\nRIFF');
    expect(parts[4]).toBe('--\r\n');
    expect(headers?.['content-length']).toBeDefined();
  });

  it('accepts answers without segments, and answers without speech', async () => {
    server.script = says({ text: 'All of it' });
    expect(await opened().transcribe(SOUND)).toEqual([{ seconds: 0, text: 'All of it' }]);
    server.script = says({ text: '' });
    expect(await opened().transcribe(SOUND)).toEqual([]);
    server.script = says({ text: '', segments: [{ start: 0, text: ' ' }] });
    expect(await opened().transcribe(SOUND)).toEqual([]);
  });

  it.each([
    ['a page of HTML', answering(200, '<html>Welcome</html>', { 'content-type': 'text/html' }), 'later', 'text/html'],
    ['no text', says({ words: [] }), 'later', 'no text'],
    ['a segment without a start', says({ segments: [{ text: 'a' }] }), 'later', 'without a start'],
    ['a segment without a text', says({ segments: [{ start: 1 }] }), 'later', 'without a text'],
    ['an error of its own', answering(500, '{"error": {"message": "out of memory"}}'), 'later', 'out of memory'],
    ['no entry', answering(401, `{"error": "wrong key ${SECRET}"}`), 'later', 'wrong key [secret]'],
    ['that it cannot be decoded', answering(400, '{"error": {"message": "bad audio"}}'), 'never', 'bad audio'],
    ['that it is too large', answering(413, '{"error": "too large"}'), 'never', 'too large'],
    ['more than its sound is long', says({ text: 'x'.repeat(2 ** 21) }), 'later', ' bytes'],
  ])('reports an answer of %s as an error with the reason, without its secret', async (_what, script, retry, why) => {
    server.script = script;
    const error = await opened()
      .transcribe(SOUND)
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ModelError);
    expect(error).toMatchObject({ retry });
    expect((error as ModelError).detail).toContain(why);
    expect((error as ModelError).detail).not.toContain(SECRET);
  });

  it('accepts any JSON: it returns texts with seconds, or a ModelError', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.jsonValue(), fc.record({ segments: fc.jsonValue(), text: fc.jsonValue() })),
        async (answer) => {
          server.script = says(answer);
          timers = new SimulatedTimers();
          const said = await opened()
            .transcribe(SOUND)
            .catch((error: unknown) => error);
          if (said instanceof ModelError) return;
          for (const { seconds, text } of said as { seconds: number; text: string }[]) {
            expect(seconds).toBeGreaterThanOrEqual(0);
            expect(text.trim()).not.toBe('');
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  it('ends a call after its time limit, and pauses the model after several of them', async () => {
    server.script = () => undefined;
    const slow = opened({ msMax: SLOW_MS });
    for (let call = 0; call < CALLS; call += 1) await expect(slow.transcribe(SOUND)).rejects.toBeInstanceOf(ModelError);
    await expect(slow.transcribe(SOUND)).rejects.toThrow('left alone');
    // A call that was ended may reach the server later than that, or not at all.
    expect(server.asked.length).toBeLessThanOrEqual(CALLS);
  });

  it('pauses the model for as long as its Retry-After says, and keeps its limit per minute', async () => {
    server.script = answering(429, '{}', { 'retry-after': '20' });
    const transcriber = opened({ requestsPerMinute: 2 });
    await expect(transcriber.transcribe(SOUND)).rejects.toMatchObject({ retry: 'later', retryAfterMs: 20_000 });
    server.script = says({ text: 'here' });
    await expect(transcriber.transcribe(SOUND)).rejects.toThrow('left alone');
    await timers.pass(60_001, () => Promise.resolve());
    expect(await transcriber.transcribe(SOUND)).toEqual([{ seconds: 0, text: 'here' }]);
  });

  it('ends a call whose signal is aborted, which does not count as a failure', async () => {
    const left = new AbortController();
    const transcriber = opened();
    server.script = () => {
      left.abort(new Error('left'));
    };
    await expect(transcriber.transcribe(SOUND, left.signal)).rejects.toThrow('left');
    server.script = says({ text: 'here' });
    expect(await transcriber.transcribe(SOUND)).toEqual([{ seconds: 0, text: 'here' }]);
  });
});
