/**
 * Frames of videos, by ffmpeg where the machine has it: a process for each video, which gets so much time and memory, and nothing but the file.
 * The file lies in a folder of the service for as long as it is decoded, without a name, so that nobody else can open it and nothing is left of it
 * whatever ends. Main thread only.
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
const SECOND_MS = 1000;
const MEBIBYTE = 2 ** 20;
/** One of 512 by 512 pixels has less, however it is packed. */
const FRAME_BYTES_MAX = 4 * MEBIBYTE;
/** What started it ends with this where there is no such program to be run. */
const NO_PROGRAM = 127;
const CLOCK_BY_PROCESSOR_MAX = 20;
/** A process that does nothing for so long, and is waited for, hangs. */
const IDLE_MS_MAX = 60_000;
/** After its end, for what is left in its pipes: others that hold them open are not waited for. */
const EXITED_MS_MAX = 1000;
const MESSAGE_CHARACTERS_MAX = 200;
/** Of a file without a stream of pictures: from ffmpeg 7 on it is told of the option first that only these take. */
const NO_PICTURES = /matches no streams|\bskip_frame\b.* is not a decoding option/;

/** What it calls its input, and where its parts lie in its memory: nothing of the video. */
const OF_THE_PROCESS = /^file:\/dev\/fd\/0: | @ 0x[\da-f]+(?=\])/g;

export interface VideoFramesOptions {
  /** A path, or a name to be found in PATH; '' for none. */
  readonly ffmpeg: string;
  /** Where videos lie while they are decoded; it is made. */
  readonly folder: string;
  readonly everySeconds: number;
  /** Of one video; the rest is not read. 0: none are. */
  readonly framesMax: number;
  /** Of a processor; what was seen by then is what there is. */
  readonly msMax: number;
  /** Resident memory of a process. */
  readonly memoryMibMax: number;
  readonly idleMsMax?: number;
  /** By the clock, while it is waited for. Default: 20 times `msMax`; what gets so small a share of a processor will not get more. */
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

  /** Whether there is a program; one that was found stays, whatever becomes of it. */
  lookForProgram(): boolean {
    const { framesMax, ffmpeg } = this.options;
    if (framesMax > 0) this.#program ??= findFfmpeg(ffmpeg);
    return this.#program !== undefined;
  }

  /** By what frames are read: those of another are to be read again. '' where none are. */
  get version(): string {
    const { everySeconds, framesMax } = this.options;
    return this.#program === undefined ? '' : `${everySeconds} ${framesMax}`;
  }

  /**
   * Hands over one frame after the other. Resolves to whether there are more than were read. Rejects with a RecordingError where the file holds nothing
   * that can be seen though it is to, with a ServiceError where nothing could be done, with what `take` rejects with, and with the signal's reason.
   */
  async read(bytes: Uint8Array, take: (frame: Frame) => Promise<void>, signal: AbortSignal): Promise<boolean> {
    const { everySeconds, framesMax, msMax } = this.options;
    const format = recordingFormat(bytes);
    if (format === undefined)
      throw new RecordingError('not-a-recording', 'The bytes are not those of a video or an audio file that is read');
    // One more than there may be tells whether there are more.
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
      // With a group of its own, which is killed as a whole: a program in the place of ffmpeg may start it in turn.
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
        // What was asked for no more may write without end.
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

/** One process, watched. */
class Decoding {
  readonly #watch: NodeJS.Timeout;
  readonly #closed: Promise<unknown>;
  /** Nothing more is read of it. */
  #isLetGo = false;
  #startFailure: Error | undefined;
  #message = '';
  #ended: Ended | undefined;
  #isWaitedFor = true;
  #active = { ms: 0, sinceMs: performance.now() };
  #waitedMs = 0;
  #lookedMs = performance.now();

  constructor(
    private readonly child: ChildProcess,
    private readonly options: VideoFramesOptions,
  ) {
    child.once('error', (error) => {
      this.#startFailure ??= error;
    });
    child.once('exit', () => {
      // What it started and left behind.
      killGroup(child);
      this.#active.sinceMs = performance.now();
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

  /** It came to its end by itself. */
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
          this.#active = { ms: this.#active.ms, sinceMs: performance.now() };
        }
    } catch (error) {
      if (error instanceof PngStreamError) this.kill('damaged');
      else if (!this.#isLetGo) throw error;
    }
    await this.#closed;
  }

  /** Throws where something else ended it, which says nothing of the video: somebody did, or the system, for want of memory. */
  assertNotKilledByOthers(): void {
    if (this.#ended === undefined && this.child.signalCode === 'SIGKILL')
      throw new ServiceError(
        'internal-error',
        'ffmpeg was killed (SIGKILL), and not by the service: by somebody, or by the system for want of memory.',
      );
  }

  /** Throws where there should have been a frame. */
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

  /** What it said first; how it ended where it said nothing. */
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

  /** Whoever else has the other ends of its pipes is not waited for. */
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
    if (this.#isWaitedFor) this.#waitedMs += nowMs - this.#lookedMs;
    this.#lookedMs = nowMs;
    if (this.#hasExited) {
      if (this.#isWaitedFor && nowMs - this.#active.sinceMs > EXITED_MS_MAX) this.#letGo();
      return;
    }
    if (residentBytes(pid) > memoryMibMax * MEBIBYTE) this.kill('too-large');
    const ms = processorMs(pid);
    if ((ms ?? 0) > msMax || this.#waitedMs > clockMsMax) this.kill('timed-out');
    if ((ms ?? 0) > this.#active.ms) this.#active = { ms: ms ?? 0, sinceMs: nowMs };
    // Where the system does not tell of processes, one that gives nothing for so long may be at work.
    const waitedMs = nowMs - this.#active.sinceMs;
    if (this.#isWaitedFor && waitedMs > (ms === undefined ? Math.max(idleMsMax, msMax) : idleMsMax)) this.kill('hung');
  }
}

/** Nothing of the video: what would work again when others have ended, or no ffmpeg. */
function asStartFailure(error: Error): unknown {
  const known = asKnownError(error);
  return known instanceof ServiceError
    ? known
    : new ServiceError('internal-error', `ffmpeg cannot be run: ${error.message}.`);
}

/** SIGKILL to it and to all that it started, but for what has made a group of its own. */
function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // Nothing of it is left.
  }
}

function giveWay(pid: number): void {
  try {
    setPriority(pid, NICENESS);
  } catch {
    // It has ended already.
  }
}
