/** Transcription models: client of OpenAI's `/v1/audio/transcriptions`. */
import { createHash, randomUUID } from 'node:crypto';
import { memberOf } from './checked-answers.js';
import type { GuardedCalls } from './guarded-calls.js';
import type { JsonService } from './json-service.js';
import { ModelError } from './model-error.js';
import type { Model } from './types.js';

/** A piece of a recording, as a file. */
export interface Sound {
  readonly bytes: Uint8Array;
  /** Its extension tells the format; servers look at nothing else. */
  readonly fileName: string;
  readonly mimeType: string;
}

/** Text spoken from a second of the piece on. */
export interface Said {
  readonly seconds: number;
  readonly text: string;
}

export interface TranscriptionSource {
  /** Rejects with a ModelError, or the signal's reason. */
  transcribe(sound: Sound, signal?: AbortSignal): Promise<readonly Said[]>;
}

export interface Transcriber extends TranscriptionSource {
  /** Differs between models that may transcribe differently. */
  readonly version: string;
}

const VERSION_CHARACTERS = 16;

/**
 * Returns the version of a model. Independent of secret and limits, so that changing those repeats no transcription.
 */
export function transcriptionVersion({
  provider,
  url,
  served_name,
}: Pick<Model, 'provider' | 'url' | 'served_name'>): string {
  const decisive = JSON.stringify([provider, url, served_name]);
  return createHash('sha256').update(decisive).digest('hex').slice(0, VERSION_CHARACTERS);
}

/** Limit on the bytes of an answer. */
export const TRANSCRIPT_BYTES_MAX = 32 * 2 ** 20;
/** Limit on an answer beyond the bytes of the sound: a second of speech takes fewer bytes as text. */
const BYTES_BESIDE_MAX = 2 ** 20;

export class OpenAiTranscription implements TranscriptionSource {
  constructor(
    private readonly service: JsonService,
    private readonly model: { readonly served_name: string | null },
  ) {}

  async transcribe(sound: Sound, signal?: AbortSignal): Promise<readonly Said[]> {
    const boundary = `gannet-${randomUUID()}`;
    const body = formOf(boundary, { model: this.model.served_name ?? '', response_format: 'verbose_json' }, sound);
    const contentType = `multipart/form-data; boundary=${boundary}`;
    const bounds = { bytesMax: BYTES_BESIDE_MAX + sound.bytes.length };
    return saidIn(await this.service.send({ contentType, body }, signal, bounds));
  }
}

/** Transcriber behind its rate limit and its circuit breaker. */
export class GuardedTranscriber implements Transcriber {
  constructor(
    readonly version: string,
    private readonly source: TranscriptionSource,
    private readonly calls: GuardedCalls,
  ) {}

  transcribe(sound: Sound, signal?: AbortSignal): Promise<readonly Said[]> {
    return this.calls.run(0, () => this.source.transcribe(sound, signal), signal);
  }
}

/** Encodes a form as in RFC 7578. */
function formOf(
  boundary: string,
  fields: Readonly<Record<string, string>>,
  { bytes, fileName, mimeType }: Sound,
): Uint8Array {
  const parts = Object.entries(fields).map(
    ([name, value]) => `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const head = `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="${fileName}"\r\ncontent-type: ${mimeType}\r\n\r\n`;
  return Buffer.concat([Buffer.from(parts.join('') + head), bytes, Buffer.from(`\r\n--${boundary}--\r\n`)]);
}

/** Returns the segments if the server gives them, otherwise the whole text at second 0. Throws a ModelError. */
function saidIn(answer: unknown): Said[] {
  const segments = memberOf(answer, 'segments');
  if (Array.isArray(segments) && segments.length > 0)
    return segments.flatMap((segment) => {
      const [seconds, text] = [memberOf(segment, 'start'), memberOf(segment, 'text')];
      if (typeof text !== 'string') throw wrong('a segment without a text');
      if (typeof seconds !== 'number' || !Number.isFinite(seconds)) throw wrong('a segment without a start');
      return text.trim() === '' ? [] : [{ seconds: Math.max(0, seconds), text }];
    });
  const text = memberOf(answer, 'text');
  if (typeof text !== 'string') throw wrong('no text');
  return text.trim() === '' ? [] : [{ seconds: 0, text }];
}

function wrong(what: string): ModelError {
  return new ModelError(`The server answered ${what}.`, { retry: 'later', reason: 'bad-answer' });
}
