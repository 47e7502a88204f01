/**
 * Segments that have to be made again from the records: of another format, missing, damaged, or at a place that the disk cannot read.
 * Everything else that keeps a file from being opened (permissions, too many open files) is no reason to give it up.
 */
import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import {
  isKernelError,
  type Kernel,
  type SegmentHandle,
  type VectorSegmentHandle,
} from '../../../native-bindings/index.js';
import { segmentsPath, type ListState, type PartName } from '../../store/index.js';

export type SegmentFault = 'unsupported-format' | 'damaged' | 'unreadable' | 'missing';

export class UnusableSegmentError extends Error {
  override readonly name = 'UnusableSegmentError';

  constructor(
    readonly path: string,
    readonly fault: SegmentFault,
    options: { readonly cause: Error },
  ) {
    super(`segment ${basename(path)} is unusable (${fault}): ${options.cause.message}`, options);
  }
}

/** An index of a version that cannot be opened, by the first segment of it that is unusable. */
export interface UnusableVersion {
  readonly version: number;
  /** Undefined: that of the fields. */
  readonly part: PartName | undefined;
  /** That it is to have. */
  readonly documents: number;
  readonly segment: UnusableSegmentError;
}

/** Thrown where a list is opened; says all that is needed to rebuild it. */
export class UnusableIndexError extends Error {
  override readonly name = 'UnusableIndexError';
  readonly unusable: readonly UnusableVersion[];
  readonly state: ListState;
  /** By version, for all of them. */
  readonly recordCounts: ReadonlyMap<number, number>;
  /** Gives a number for a segment that was never used. */
  readonly newSegment: () => number;

  constructor(listPath: string, found: Pick<UnusableIndexError, 'unusable' | 'state' | 'recordCounts' | 'newSegment'>) {
    super(
      `${listPath}: ${found.unusable.map(({ version, segment }) => `version ${version}: ${segment.message}`).join('; ')}`,
    );
    this.unusable = found.unusable;
    this.state = found.state;
    this.recordCounts = found.recordCounts;
    this.newSegment = found.newSegment;
  }
}

/** Segments of a list that are not as they were written, by path, with what the kernel says of them. */
export type DamagedSegments = ReadonlyMap<string, Error>;

const SEGMENT_FILE = /^\d+\.(?:mdb|gvs)$/;

/**
 * Reads all segments of a list that is about to be opened and compares them with their checksums, one after the other and beside the
 * calling thread. Everything but damage shows when they are opened.
 */
export async function damagedSegments(kernel: Kernel, listPath: string): Promise<DamagedSegments> {
  const damaged = new Map<string, Error>();
  const folder = segmentsPath(listPath);
  const files = existsSync(folder) ? readdirSync(folder).filter((file) => SEGMENT_FILE.test(file)) : [];
  for (const path of files.map((file) => join(folder, file))) {
    try {
      await (path.endsWith('.gvs')
        ? kernel.checkVectorSegmentInBackground(path)
        : kernel.checkSegmentInBackground(path));
    } catch (error) {
      if (isKernelError(error) && (error.code === 'damaged' || error.code === 'unreadable')) damaged.set(path, error);
    }
  }
  return damaged;
}

/**
 * Opens a segment that was written before. Throws UnusableSegmentError, also where it is among `damaged`, or KernelError where the
 * file may be in order.
 */
export function openSegment(kernel: Kernel, path: string, damaged: DamagedSegments): SegmentHandle {
  const open = (found: string) => kernel.openSegment(found);
  const close = (segment: SegmentHandle) => {
    kernel.closeSegment(segment);
  };
  return opened(path, damaged, { open, close });
}

/** As `openSegment`, of vectors. */
export function openVectorSegment(kernel: Kernel, path: string, damaged: DamagedSegments): VectorSegmentHandle {
  const open = (found: string) => kernel.openVectorSegment(found);
  const close = (segment: VectorSegmentHandle) => {
    kernel.closeVectorSegment(segment);
  };
  return opened(path, damaged, { open, close });
}

interface Opening {
  readonly open: (path: string) => number;
  readonly close: (handle: number) => void;
}

function opened(path: string, damaged: DamagedSegments, { open, close }: Opening): number {
  let segment: number | undefined;
  try {
    segment = open(path);
    const damage = damaged.get(path);
    if (damage !== undefined) throw damage;
    return segment;
  } catch (error) {
    if (segment !== undefined) close(segment);
    const fault = faultOf(error, path);
    throw fault === undefined ? error : new UnusableSegmentError(path, fault, { cause: error as Error });
  }
}

function faultOf(error: unknown, path: string): SegmentFault | undefined {
  if (!isKernelError(error)) return undefined;
  switch (error.code) {
    case 'unsupported-format':
    case 'damaged':
    case 'unreadable':
      return error.code;
    case 'io':
      return existsSync(path) ? undefined : 'missing';
    case 'invalid-argument':
    case 'disk-full':
    case 'limit':
    case 'stopped':
    case 'deadline':
    case 'slice':
      return undefined;
  }
}
