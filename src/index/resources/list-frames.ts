/**
 * Keeps the videos of a list searchable by their frames: as its pictures are searched, with frames read in the current
 * way. Main thread only.
 */
import { hasFiles, type FileReader, type FrameReading } from '../../extracts/index.js';
import type { BackgroundHost } from '../versions/background-host.js';

export interface ListFramesOptions {
  readonly host: BackgroundHost;
  readonly reader: () => FileReader | undefined;
}

export class ListFrames {
  constructor(private readonly options: ListFramesOptions) {}

  /**
   * Version by which frames are to be read, if it differs from the one they were read by; '' if nothing reads frames
   * any more.
   */
  get otherVersion(): string | undefined {
    const version = this.options.reader()?.framesBy;
    return !this.mayHave || version === undefined || version === this.readBy ? undefined : version;
  }

  /** Undefined if records link to no videos, or pictures are not searched. */
  get status(): FrameReading | undefined {
    const version = this.options.reader()?.framesBy;
    if (!this.mayHave || version === undefined) return undefined;
    return version === '' ? 'no-ffmpeg' : 'read';
  }

  /** Finds videos and queues them to be looked at, in many small steps. Rejects if that cannot be written. */
  async readAllBy(version: string, isStopped: () => boolean): Promise<void> {
    const { host } = this.options;
    for (let after: string | undefined = ''; after !== undefined && !isStopped();)
      after = await this.step(version, after);
    host.log.info(
      { list: host.listPath },
      'Queued the videos of a list to be read again: the way of reading frames changed',
    );
  }

  private async step(version: string, after: string): Promise<string | undefined> {
    const { host } = this.options;
    const { listPath, clock } = host;
    const task = { kind: 'frames-by', listPath, nowMs: clock.nowMs(), version, after } as const;
    return host.exclusive(async () => {
      const step = await host.runCommit(task);
      if (step.state !== undefined) host.reopen(step.state);
      return step.after;
    });
  }

  private get mayHave(): boolean {
    const { pictures, versions } = this.options.host.state();
    return pictures !== undefined && versions.some(({ definition }) => hasFiles(definition, ['frames']));
  }

  private get readBy(): string {
    return this.options.host.state().pictures?.framesBy ?? '';
  }
}
