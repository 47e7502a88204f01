/** A model's transcript of a recording: made in parts, none of which is paid for twice. */
import { expect, it } from 'vitest';
import { wavOf } from '../../test/support/recordings.js';
import type { KeptTranscript, Transcribing } from '../extracts/index.js';
import { ModelError, type Transcriber } from '../models/index.js';
import { NotTranscribedError, TranscriberAwayError, transcriptKey, Transcripts } from './transcripts.js';

const BYTES = wavOf({ seconds: 3 });
/** The length of a part: two parts of one and a half seconds. */
const BYTES_MAX = 24_044;
const KEY = transcriptKey('hash', 'version');

/** A scripted model, and what is stored of its answers. */
class Scripted implements Transcriber {
  readonly version = 'version';
  readonly asked: number[] = [];
  readonly stored = new Map<string, KeptTranscript>();
  fail: Error | undefined;
  full: Error | undefined;
  /** Each answer waits for this promise. */
  answers: Promise<unknown> = Promise.resolve();

  async transcribe({ bytes }: { readonly bytes: Uint8Array }) {
    this.asked.push(bytes.length);
    await this.answers;
    if (this.fail !== undefined) throw this.fail;
    return [{ seconds: 0.5, text: ` Piece\n ${this.asked.length} ` }];
  }

  get transcribing(): Transcribing {
    return {
      model: 'scripted',
      asks: true,
      kept: (key) => Promise.resolve(this.stored.get(key)),
      keep: (key, kept) => {
        if (this.full !== undefined) return Promise.reject(this.full);
        this.stored.set(key, kept);
        return Promise.resolve();
      },
    };
  }
}

function opened() {
  const counted: number[] = [];
  const transcripts = new Transcripts({
    bytesMax: BYTES_MAX,
    metrics: { transcribed: (bytes) => counted.push(bytes) },
  });
  const model = new Scripted();
  const read = (signal = new AbortController().signal, bytes: Uint8Array = BYTES) =>
    transcripts.of(model, { key: KEY, bytes, transcribing: model.transcribing }, signal);
  return { counted, model, read };
}

const CUES = [[{ seconds: 0.5, text: 'Piece 1' }], [{ seconds: 2, text: 'Piece 2' }]];

it('A transcript is requested part by part, with times of the whole recording, and never again', async () => {
  const { counted, model, read } = opened();
  expect(await read()).toEqual(CUES);
  expect(await read()).toEqual(CUES);
  expect(model.asked).toEqual([BYTES_MAX, BYTES_MAX]);
  expect(counted).toEqual(model.asked);
  expect(model.stored.get(KEY)?.isWhole).toBe(true);
});

it('A transcript continues after the last stored part', async () => {
  const { model, read } = opened();
  model.stored.set(KEY, { pieces: [[[{ seconds: 0.1, text: 'Earlier' }]]], isWhole: false });
  expect(await read()).toEqual([[{ seconds: 0.1, text: 'Earlier' }], [{ seconds: 2, text: 'Piece 1' }]]);
  expect(model.asked).toHaveLength(1);
});

it('A transcript is requested once for several files with the same bytes', async () => {
  const { model, read } = opened();
  expect(await Promise.all([read(), read(), read()])).toEqual([CUES, CUES, CUES]);
  expect(model.asked).toHaveLength(2);
});

it('A reading that waits for another one can be aborted, and the other one continues', async () => {
  const { model, read } = opened();
  let answer = () => {};
  model.answers = new Promise<void>((resolve) => (answer = resolve));
  const first = read();
  const left = new AbortController();
  const second = read(left.signal);
  left.abort(new Error('left'));
  await expect(second).rejects.toThrow('left');
  answer();
  expect(await first).toEqual(CUES);
});

it('Transcripts distinguish an unavailable model, a refused file and a full disk', async () => {
  const { model, read } = opened();
  model.fail = new ModelError('Come back.', { retry: 'later', retryAfterMs: 20_000 });
  await expect(read()).rejects.toMatchObject({ name: 'TranscriberAwayError', afterMs: 20_000, message: 'Come back.' });
  await expect(read()).rejects.toBeInstanceOf(TranscriberAwayError);
  model.fail = new ModelError('Bad audio.', { retry: 'never' });
  await expect(read()).rejects.toBeInstanceOf(NotTranscribedError);
  model.fail = undefined;
  model.full = new Error('The disk is full.');
  await expect(read()).rejects.toBe(model.full);
});

it('A transcript is not requested if the file is too long and cannot be cut', async () => {
  const { model, read } = opened();
  const ogg = Buffer.concat([Buffer.from('OggS'), Buffer.alloc(BYTES_MAX)]);
  await expect(read(undefined, ogg)).rejects.toThrow('can be cut only where it is a WAV or an MP3 file');
  expect(model.asked).toEqual([]);
});
