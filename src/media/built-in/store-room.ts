/**
 * Accounts for the space of a store with a limit: what is used, and what uploads in flight have claimed. An upload of
 * known length claims its room at the beginning; other uploads claim as they go, since their bytes are already on disk.
 * Main thread only.
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

/** Room claimed by one upload. */
export interface RoomClaim extends RoomNeed {
  /** Grows the claim for a file of this length. Throws `store-full`. */
  growTo(bytes: number): void;
  /** Returns the room; may be called twice. */
  release(): void;
}

export class StoreRoom {
  private claimedBytes = 0;
  private claimedFiles = 0;

  constructor(
    readonly limits: RoomLimits,
    private readonly usage: () => Usage,
  ) {}

  /**
   * Claims room for an upload. `replacedBytes` is the length of the file it replaces; undefined if there is none.
   * Throws `store-full`.
   */
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

  /** Throws `store-full` if so much more does not fit besides the claims of others. */
  assertRoom({ bytes, files }: RoomNeed): void {
    const [usedBytes, usedFiles] = this.usage();
    const { bytesMax, filesMax } = this.limits;
    if (usedBytes + this.claimedBytes + bytes > bytesMax) throw this.full(usedBytes, usedFiles);
    if (usedFiles + this.claimedFiles + files > filesMax) throw this.full(usedBytes, usedFiles);
  }

  /**
   * Decides finally, in the transaction that puts the file in place: converts the claim into usage. The replaced file
   * may differ from the one at the beginning, so the need may be larger. Throws `store-full`.
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
