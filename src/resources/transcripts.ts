/**
 * Transcribes recordings with a model, by pieces of their sound, each of which is paid for only once. Main thread only.
 */
import { createHash } from 'node:crypto';
import type { KeptTranscript, Passage, Transcribing } from '../extracts/index.js';
import { ModelError, type Transcriber } from '../models/index.js';
import { beforeEndOf } from '../platform/index.js';
import { cutSound, passagesOf } from '../recordings/index.js';
import type { ResourceMetrics } from './resource-metrics.js';

/** Thrown if the recording cannot be transcribed; the message is a sentence. */
export class NotTranscribedError extends Error {
  override readonly name = 'NotTranscribedError';
}

/** Thrown if the model may answer later. */
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
/** Joined to single blanks, since a cue is one line. */
const BLANKS = /\s+/gu;

/** Returns the key of a transcript, by the hash of the file's bytes and the version of the model. */
export function transcriptKey(hash: string, version: string): string {
  return createHash('sha256').update(`${hash} ${version}`).digest('base64url').slice(0, KEY_CHARACTERS);
}

export interface SoundToTranscribe {
  readonly key: string;
  readonly bytes: Uint8Array;
  readonly transcribing: Transcribing;
}

export interface TranscriptsOptions {
  /** Bytes per request. */
  readonly bytesMax: number;
  readonly metrics: Pick<ResourceMetrics, 'transcribed'>;
}

export class Transcripts {
  /** Transcriptions in progress by key: several files may have the same bytes. */
  readonly #underWay = new Map<string, Promise<unknown>>();

  constructor(private readonly options: TranscriptsOptions) {}

  /**
   * Transcribes a recording, continuing where it was interrupted. Rejects with one of the errors above, with what
   * `keep` rejects with, and with the signal's reason.
   */
  async of(transcriber: Transcriber, sound: SoundToTranscribe, signal: AbortSignal): Promise<readonly Passage[]> {
    const { key } = sound;
    // Waits for a transcription of the same bytes, whose pieces are then kept and need not be paid again.
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
