/** What is said in a recording, as a model writes it down: by pieces of its sound, each of them paid for once. Main thread only. */
import { createHash } from 'node:crypto';
import type { KeptTranscript, Passage, Transcribing } from '../extracts/index.js';
import { ModelError, type Transcriber } from '../models/index.js';
import { beforeEndOf } from '../platform/index.js';
import { cutSound, passagesOf } from '../recordings/index.js';
import type { ResourceMetrics } from './resource-metrics.js';

/** It will not be written down; the message is a sentence. */
export class NotTranscribedError extends Error {
  override readonly name = 'NotTranscribedError';
}

/** The model may answer another time. */
export class TranscriberAwayError extends Error {
  override readonly name = 'TranscriberAwayError';

  constructor(
    message: string,
    readonly afterMs: number | undefined,
  ) {
    super(message);
  }
}

const KEY_CHARACTERS = 22;
/** Of a cue, which is one line. */
const BLANKS = /\s+/gu;

/** Of the bytes of a file, by its hash, and a version of a model. */
export function transcriptKey(hash: string, version: string): string {
  return createHash('sha256').update(`${hash} ${version}`).digest('base64url').slice(0, KEY_CHARACTERS);
}

export interface SoundToTranscribe {
  readonly key: string;
  readonly bytes: Uint8Array;
  readonly transcribing: Transcribing;
}

export interface TranscriptsOptions {
  /** Of one request. */
  readonly bytesMax: number;
  readonly metrics: Pick<ResourceMetrics, 'transcribed'>;
}

export class Transcripts {
  /** By key: several files may have the same bytes. */
  readonly #underWay = new Map<string, Promise<unknown>>();

  constructor(private readonly options: TranscriptsOptions) {}

  /** Goes on where it was broken off. Rejects with one of the errors above, with what `keep` rejects with, and with the signal's reason. */
  async of(transcriber: Transcriber, sound: SoundToTranscribe, signal: AbortSignal): Promise<readonly Passage[]> {
    const { key } = sound;
    // What another one gets is kept, and need not be paid for again.
    for (let other = this.#underWay.get(key); other !== undefined; other = this.#underWay.get(key))
      await beforeEndOf(signal, Promise.allSettled([other]));
    const work = this.#transcribed(transcriber, sound, signal);
    this.#underWay.set(key, work);
    try {
      return await work;
    } finally {
      this.#underWay.delete(key);
    }
  }

  async #transcribed(
    transcriber: Transcriber,
    { key, bytes, transcribing }: SoundToTranscribe,
    signal: AbortSignal,
  ): Promise<readonly Passage[]> {
    const { bytesMax, metrics } = this.options;
    let kept: KeptTranscript = (await transcribing.kept(key)) ?? { pieces: [], isWhole: false };
    if (kept.isWhole) return kept.pieces.flat();
    const pieces = cutSound(bytes, bytesMax);
    if (pieces === undefined)
      throw new NotTranscribedError(
        `The file has more than ${bytesMax} bytes, and can be cut only where it is a WAV or an MP3 file.`,
      );
    for (const { sound, seconds } of pieces.slice(kept.pieces.length)) {
      const piece = sound();
      const said = await asked(transcriber, piece, signal);
      metrics.transcribed(piece.bytes.length);
      const cues = said.map((each) => ({
        seconds: each.seconds + seconds,
        text: each.text.replace(BLANKS, ' ').trim(),
      }));
      const all = [...kept.pieces, passagesOf(cues)];
      kept = { pieces: all, isWhole: all.length === pieces.length };
      await transcribing.keep(key, kept);
    }
    return kept.pieces.flat();
  }
}

async function asked(
  transcriber: Transcriber,
  sound: Parameters<Transcriber['transcribe']>[0],
  signal: AbortSignal,
): ReturnType<Transcriber['transcribe']> {
  try {
    return await transcriber.transcribe(sound, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof ModelError)) throw error;
    if (error.retry === 'never') throw new NotTranscribedError(error.detail);
    throw new TranscriberAwayError(error.detail, error.retryAfterMs);
  }
}
