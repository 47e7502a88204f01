/**
 * Room in a store with a limit: what is used, and what uploads under way need. An upload that says how long it is has its room from
 * its beginning; one that does not, as it comes, for what it has brought lies on the disk already. Main thread only.
 */
import { ServiceError } from '../../platform/index.js';
import type { Usage } from './file-table.js';
import { STORE_FULL } from '../media-problems.js';

export interface RoomLimits {
  readonly bytesMax: number;
  readonly filesMax: number;
}

export interface RoomNeed {
  readonly bytes: number;
  readonly files: number;
}

/** What one upload has been promised. */
export interface RoomClaim extends RoomNeed {
  /** For a file that is so long by now. Throws `store-full`. */
  growTo(bytes: number): void;
  /** Gives it back; safe to call twice. */
  release(): void;
}

export class StoreRoom {
  private claimedBytes = 0;
  private claimedFiles = 0;

  constructor(
    readonly limits: RoomLimits,
    private readonly usage: () => Usage,
  ) {}

  /** `replacedBytes`: of the file that makes way; undefined: none does. Throws `store-full`. */
  claim(bytes: number, replacedBytes: number | undefined): RoomClaim {
    const needed = (length: number) => Math.max(0, length - (replacedBytes ?? 0));
    const need = { bytes: needed(bytes), files: replacedBytes === undefined ? 1 : 0 };
    this.assertRoom(need);
    this.count(need, 1);
    let isReleased = false;
    return {
      get bytes() {
        return need.bytes;
      },
      files: need.files,
      growTo: (length) => {
        const more = { bytes: needed(length) - need.bytes, files: 0 };
        if (isReleased || more.bytes <= 0) return;
        this.assertRoom(more);
        this.count(more, 1);
        need.bytes += more.bytes;
      },
      release: () => {
        if (!isReleased) this.count(need, -1);
        isReleased = true;
      },
    };
  }

  /** Throws `store-full` where so much more has no room beside what others have been promised. */
  assertRoom({ bytes, files }: RoomNeed): void {
    const [usedBytes, usedFiles] = this.usage();
    const { bytesMax, filesMax } = this.limits;
    if (usedBytes + this.claimedBytes + bytes > bytesMax) throw this.full(usedBytes, usedFiles);
    if (usedFiles + this.claimedFiles + files > filesMax) throw this.full(usedBytes, usedFiles);
  }

  /**
   * In the transaction that puts a file in place: the last word, and from here on it is used and no longer claimed. What it replaces may
   * be another file than at the beginning. Throws `store-full`.
   */
  settle(claim: RoomClaim, more: RoomNeed): void {
    claim.release();
    if (more.bytes > claim.bytes || more.files > claim.files) this.assertRoom(more);
  }

  private count({ bytes, files }: RoomNeed, sign: 1 | -1): void {
    this.claimedBytes += sign * bytes;
    this.claimedFiles += sign * files;
  }

  private full(usedBytes: number, usedFiles: number): ServiceError {
    const { bytesMax, filesMax } = this.limits;
    const underWay = this.claimedBytes === 0 ? '' : `, ${this.claimedBytes} more are being uploaded`;
    return new ServiceError(
      STORE_FULL,
      `The media store has no room for this file: ${usedBytes} of ${bytesMax} bytes are used${underWay}; it has ${usedFiles} of at most ${filesMax} files.`,
    );
  }
}
