/**
 * Reads frames of videos with ffmpeg, if the machine has it: one process per video, limited in time and memory, with
 * access to nothing but the file. The file has no name while it is being decoded, so that nobody else can open it and
 * nothing is left of it if a process dies. Main thread only.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { FileHandle } from 'node:fs/promises';
import { setPriority } from 'node:os';
import { processorMs, residentBytes } from '../../platform/hosts/index.js';
import { asKnownError, endingWithThis, namelessFile, ServiceError } from '../../platform/index.js';
import { recordingFormat } from '../recording-format.js';
import { RecordingError } from '../types.js';
import { findFfmpeg, frameArguments } from './ffmpeg.js';
import { PngStream, PngStreamError } from './png-stream.js';

const NICENESS = 10;
const LOOKED_AT_MS = 50;
/** A later look counts as no more: the rest was a standstill of the service, which may have read nothing meanwhile. */
const STEP_MS_MAX = 2 * LOOKED_AT_MS;
const SECOND_MS = 1000;
const MEBIBYTE = 2 ** 20;
/** Larger than any PNG of 512 × 512 pixels. */
const FRAME_BYTES_MAX = 4 * MEBIBYTE;
/** Exit status of the launcher if the program cannot be executed. */
const NO_PROGRAM = 127;
const CLOCK_BY_PROCESSOR_MAX = 20;
/** A process that makes no progress for so long while it is awaited is hung. */
const IDLE_MS_MAX = 60_000;
/** After the exit, time to read what is left in its pipes; processes that still hold them open are not waited for. */
const EXITED_MS_MAX = 1000;
const MESSAGE_CHARACTERS_MAX = 200;
/**
 * Message for a file without video. From ffmpeg 7 on, an error about the option that only video accepts comes first.
 */
const NO_PICTURES = /matches no streams|\bskip_frame\b.* is not a decoding option/;

/** Parts of messages that say nothing of the video: the input's name and memory addresses. */
const OF_THE_PROCESS = /^file:\/dev\/fd\/0: | @ 0x[\da-f]+(?=\])/g;

export interface VideoFramesOptions {
  /** A path, a name to find in PATH, or '' for none. */
  readonly ffmpeg: string;
  /** Folder for videos while they are decoded. Created if missing. */
  readonly folder: string;
  readonly everySeconds: number;
  /** Limit per video; the rest is not read. 0 reads none. */
  readonly framesMax: number;
  /** CPU time; frames read until then are kept. */
  readonly msMax: number;
  /** Resident memory of a process, in MiB. */
  readonly memoryMibMax: number;
  readonly idleMsMax?: number;
  /**
   * Wall-clock time while it is awaited. Default: 20 times `msMax`; a process that got so small a share of a CPU will
   * not get more.
   */
  readonly clockMsMax?: number;
}

export interface Frame {
  readonly seconds: number;
  /** A PNG file. */
  readonly picture: Uint8Array;
}

export class VideoFrames {
  #program: string | undefined;

  constructor(private readonly options: VideoFramesOptions) {
    this.lookForProgram();
  }

  /** True if there is a program. Once found, it is kept. */
  lookForProgram(): boolean {
    const { framesMax, ffmpeg } = this.options;
    if (framesMax > 0) this.#program ??= findFfmpeg(ffmpeg);
    return this.#program !== undefined;
  }

  /** Version of the frames, which changes if they have to be read again. '' if none are read. */
  get version(): string {
    const { everySeconds, framesMax } = this.options;
    return this.#program === undefined ? '' : `${everySeconds} ${framesMax}`;
  }

  /**
   * Passes one frame after the other to `take`. Resolves to true if there are more frames than were read. Rejects with
   * a RecordingError if the file should have pictures but has none that can be decoded, with a ServiceError if ffmpeg
   * could not do its work, with what `take` rejects with, and with the signal's reason.
   */
  async read(bytes: Uint8Array, take: (frame: Frame) => Promise<void>, signal: AbortSignal): Promise<boolean> {
    const { everySeconds, framesMax, msMax } = this.options;
    const format = recordingFormat(bytes);
    if (format === undefined)
      throw new RecordingError('not-a-recording', 'The bytes are not those of a video or an audio file that is read');
    // One more than wanted shows whether there are more.
    const asked = { everySeconds, framesMax: framesMax + 1, secondsMax: Math.ceil(msMax / SECOND_MS) + 1 };
    const args = frameArguments(format, asked);
    if (args === undefined || this.#program === undefined) return false;
    const file = await namelessFile(this.options.folder, bytes);
    try {
      return await this.#decoded(this.#program, { args, file, take }, signal);
    } finally {
      await file.close();
    }
  }

  async #decoded(
    program: string,
    {
      args,
      file,
      take,
    }: { readonly args: string[]; readonly file: FileHandle; readonly take: (frame: Frame) => Promise<void> },
    signal: AbortSignal,
  ): Promise<boolean> {
    const { everySeconds, framesMax } = this.options;
    const [launcher, launched] = endingWithThis(program, args);
    const child = spawn(launcher, launched, {
      stdio: [file.fd, 'pipe', 'pipe'],
      env: { LC_ALL: 'C' },
      shell: false,
      // In its own process group, which is killed as a whole: the configured program may be a script that starts
      // ffmpeg.
      detached: true,
    });
    const decoding = new Decoding(child, this.options);
    const stop = () => {
      decoding.kill('stopped');
    };
    signal.addEventListener('abort', stop, { once: true });
    try {
      signal.throwIfAborted();
      let count = 0;
      for await (const picture of decoding.frames()) {
        if (count < framesMax) await take({ seconds: count * everySeconds, picture });
        count += 1;
        // The loop ends here even if the program keeps writing.
        if (count > framesMax) break;
      }
      signal.throwIfAborted();
      decoding.assertNotKilledByOthers();
      if (count === 0) decoding.assertHasNone();
      return count > framesMax || !decoding.isWhole;
    } finally {
      signal.removeEventListener('abort', stop);
      await decoding.end();
    }
  }
}

type Ended = 'stopped' | 'timed-out' | 'too-large' | 'hung' | 'damaged';

/** One watched process. */
class Decoding {
  readonly #watch: NodeJS.Timeout;
  readonly #closed: Promise<unknown>;
  /** True if its output is no longer read. */
  #isLetGo = false;
  #startFailure: Error | undefined;
  #message = '';
  #ended: Ended | undefined;
  #isWaitedFor = true;
  #active = { ms: 0, sinceMs: 0 };
  #waitedMs = 0;
  /** Time without standstills. */
  #ownMs = 0;
  #lookedMs = performance.now();

  constructor(
    private readonly child: ChildProcess,
    private readonly options: VideoFramesOptions,
  ) {
    child.once('error', (error) => {
      this.#startFailure ??= error;
    });
    child.once('exit', () => {
      // Kills what it started and left behind.
      killGroup(child);
      this.#active.sinceMs = this.#ownMs;
    });
    this.#closed = once(child, 'close').catch((error: unknown) => error);
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#message = (this.#message + text).slice(0, 4 * MESSAGE_CHARACTERS_MAX);
    });
    if (child.pid !== undefined) giveWay(child.pid);
    this.#watch = setInterval(() => {
      this.#look();
    }, LOOKED_AT_MS);
    this.#watch.unref();
  }

  /** True if it ended by itself with status 0. */
  get isWhole(): boolean {
    return this.#ended === undefined && this.child.exitCode === 0;
  }

  async *frames(): AsyncGenerator<Uint8Array> {
    const stream = new PngStream(FRAME_BYTES_MAX);
    try {
      for await (const piece of this.child.stdout ?? [])
        for (const file of stream.add(piece as Uint8Array)) {
          this.#isWaitedFor = false;
          yield file;
          this.#isWaitedFor = true;
          this.#active = { ms: this.#active.ms, sinceMs: this.#ownMs };
        }
    } catch (error) {
      if (error instanceof PngStreamError) this.kill('damaged');
      else if (!this.#isLetGo) throw error;
    }
    await this.#closed;
  }

  /** Throws if somebody else killed it, or the system for lack of memory: that says nothing of the video. */
  assertNotKilledByOthers(): void {
    if (this.#ended === undefined && this.child.signalCode === 'SIGKILL')
      throw new ServiceError(
        'internal-error',
        'ffmpeg was killed (SIGKILL), and not by the service: by somebody, or by the system for want of memory.',
      );
  }

  /** Throws if there should have been a frame. */
  assertHasNone(): void {
    if (this.#startFailure !== undefined) throw asStartFailure(this.#startFailure);
    if (this.child.exitCode === NO_PROGRAM)
      throw new ServiceError('internal-error', `ffmpeg cannot be run: ${this.#firstLine()}.`);
    if (this.#ended === 'too-large')
      throw new RecordingError(
        'too-large',
        `Decoding the video takes more memory than the ${this.options.memoryMibMax} MiB that one may have (resources.frames_memory_mib_max)`,
      );
    if (this.#ended === 'timed-out' || this.#ended === 'hung')
      throw new RecordingError('timed-out', 'No frame of the video could be decoded in time');
    if (this.isWhole || NO_PICTURES.test(this.#message)) return;
    const reason = this.#ended === 'damaged' ? 'what ffmpeg writes are no pictures' : this.#firstLine();
    throw new RecordingError('damaged', `No frame of the video can be decoded: ${reason}`);
  }

  /** Returns the first line of its messages, or how it ended if there are none. */
  #firstLine(): string {
    const { signalCode, exitCode } = this.child;
    const [line = `ffmpeg ended with ${signalCode ?? `status ${exitCode}`}`] = this.#message
      .split('\n')
      .filter((each) => each.trim() !== '');
    return line
      .replace(OF_THE_PROCESS, '')
      .replace(/\p{Cc}/gu, ' ')
      .slice(0, MESSAGE_CHARACTERS_MAX);
  }

  kill(ended: Ended): void {
    this.#ended ??= ended;
    if (!this.#hasExited) killGroup(this.child);
  }

  async end(): Promise<void> {
    clearInterval(this.#watch);
    if (!this.#hasExited) this.kill('stopped');
    this.#letGo();
    await this.#closed;
  }

  get #hasExited(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  /** Stops reading its pipes, which other processes may still hold open. */
  #letGo(): void {
    this.#isLetGo = true;
    this.child.stdout?.destroy();
    this.child.stderr?.destroy();
  }

  #look(): void {
    const { msMax, memoryMibMax, idleMsMax = IDLE_MS_MAX } = this.options;
    const { clockMsMax = CLOCK_BY_PROCESSOR_MAX * msMax } = this.options;
    const { pid } = this.child;
    const nowMs = performance.now();
    const stepMs = Math.min(nowMs - this.#lookedMs, STEP_MS_MAX);
    this.#lookedMs = nowMs;
    this.#ownMs += stepMs;
    if (this.#isWaitedFor) this.#waitedMs += stepMs;
    if (this.#hasExited) {
      if (this.#isWaitedFor && this.#ownMs - this.#active.sinceMs > EXITED_MS_MAX) this.#letGo();
      return;
    }
    if (residentBytes(pid) > memoryMibMax * MEBIBYTE) this.kill('too-large');
    const ms = processorMs(pid);
    if ((ms ?? 0) > msMax || this.#waitedMs > clockMsMax) this.kill('timed-out');
    if ((ms ?? 0) > this.#active.ms) this.#active = { ms: ms ?? 0, sinceMs: this.#ownMs };
    // If the system does not report CPU time, a process without output may still be working.
    const waitedMs = this.#ownMs - this.#active.sinceMs;
    if (this.#isWaitedFor && waitedMs > (ms === undefined ? Math.max(idleMsMax, msMax) : idleMsMax)) this.kill('hung');
  }
}

/**
 * Converts an error of starting ffmpeg, which says nothing of the video: a temporary lack of resources, or no ffmpeg.
 */
function asStartFailure(error: Error): unknown {
  const known = asKnownError(error);
  return known instanceof ServiceError
    ? known
    : new ServiceError('internal-error', `ffmpeg cannot be run: ${error.message}.`);
}

/** Sends SIGKILL to the process and everything it started, except what created its own group. */
function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

function giveWay(pid: number): void {
  try {
    setPriority(pid, NICENESS);
  } catch {
    // It has ended.
  }
}
